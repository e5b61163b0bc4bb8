// Command protoc-gen-parlance is the plugin behind the REST facade. From one walk over
// google.api.http and the options of parlance/v1/options.proto it writes
//
//   - <package>/<package>rest/routes.go: the route table that server/rest serves, and
//   - openapi/openapi.json with its embed.go: the OpenAPI 3.1 document of the same routes
//     (left out with the parameter openapi=false).
//
// A contract it cannot serve (a path variable that is neither string nor int32, two methods on one
// route, a custom verb) fails the generation and says where.
//
// It reads the options through the generated package itself, so after a change of options.proto
// run the generation twice. proto/generate.sh builds it before buf empties gen/.
package main
