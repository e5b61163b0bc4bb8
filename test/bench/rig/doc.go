// Package rig is what the benchmarks of the running service share: an installation on private
// databases ([Installation]), programs that run as processes of their own ([Process]), what a
// process and the machine have spent ([CPUOf], [ReadMachineTime]), and a bare client of WebSockets
// ([Dial], [Frame], [ReadFrame]) that costs the measured machine little.
//
// CPU and memory are read from /proc, so they are known on Linux only.
package rig
