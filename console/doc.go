// Package console is the operators' console at /console/: a program for browsers in TypeScript and
// React, which uses nothing but the API, with the rights of whoever is signed in. The program
// (parlance) embeds dist/, which `npm run build` makes from src/ and which is committed, so that Go
// alone builds the program; .ci/console checks that it is what the sources make.
//
//	src/api/           the API's typed clients, who calls, errors as sentences, uploads, examples
//	src/app/           the frame: sign-in, navigation, the list of pages, addresses
//	src/ui/            what pages are made of: fields, tables, dialogs, plots
//	src/pages/         one folder for each page of the navigation
//	src/conversation/  talking with an agent, and the cards of its turns
//	src/styles/        colours, type, and the components
//
// Texts of users, agents, tools and sources are never HTML: React inserts them as text, and the
// Content-Security-Policy of package server (Trusted Types, no inline scripts or styles) keeps any
// other code from it. A page is tried in a browser by a file of test/console.
//
// Package server serves the files with their headers.
package console
