package card

// Keys for tests alone.
var (
	otherKey = []string{
		"-----BEGIN PRIVATE KEY-----",
		"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWTnm/IpxlQlpglIv",
		"3NnFDPrnvjkBaB/i+McFkTV+yCqhRANCAARfo/gdraMwrFC2ZkYPCcqcdRhMChV4",
		"eZDhndy+KFGeMFBopfICiUbk6GLgH666A8xpRTcShHUfLk/ZAOHTKkin",
		"-----END PRIVATE KEY-----",
	}
	p384 = []string{
		"-----BEGIN PRIVATE KEY-----",
		"MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDpRRajCHbV6bCvApLC",
		"3S8+nSmC3E8ocQHQKXWsuoA9u/KTOhQ0h90gOwL8B00ofTahZANiAAQ3HLOhCqZQ",
		"hKVssyM2njUtlgVeyBwlYwz/OxAMS6gT0jJdjog0/gavkHFylgplhZDtjH6TxgtB",
		"XaIk2wo7+xAvNZcN34mPcy6Sj0MRI0bsa3spBm+/p4MhBQtyV3TzpRc=",
		"-----END PRIVATE KEY-----",
	}
)
