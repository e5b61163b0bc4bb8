// Package webpages makes sources of the knowledge base from URLs, and fetches them.
//
//	CreateSource, CreateFromSitemap ──► a source, queued with the stage fetching
//	  ──► Fetch, in a run of package ingestion
//	        304 or the same bytes: nothing changes
//	        other content: knowledge.Upload, in place of what there is
//
// Only public addresses are reached. Redirects are followed, five at most, and each is checked
// again. A page is bounded by the plan's upload size, a sitemap by maxSitemapBytes.
package webpages
