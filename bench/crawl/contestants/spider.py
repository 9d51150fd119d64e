"""Scrapy, as its tutorial shows it: scrapy runspider spider.py -a origin=http://… -o records.jsonl"""

import json
import sys
import time

import scrapy
from scrapy.linkextractors import LinkExtractor


class Spider(scrapy.Spider):
    name = "bench"
    begun = ended = 0.0

    def start_requests(self):
        self.links = LinkExtractor(allow_domains=[self.origin.removeprefix("http://")])
        self.begun = time.monotonic()
        yield scrapy.Request(self.origin + "/")

    def parse(self, response):
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "author": response.css(".byline .author::text").get(),
            "published": response.css("time.published::attr(datetime)").get(),
            "price": response.css(".offer .price::text").get(),
        }
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
        self.ended = time.monotonic()

    def closed(self, reason):
        sys.stdout.write(json.dumps({"seconds": self.ended - self.begun}) + "\n")
