package locality

import "truecost.dev/shared/estimate/catalog"

// pacific are the ZIPs of islands that share their prefix with Hawaii or Guam
// and have no index of their own. Micronesia, Palau and the Marshall Islands are
// not of the United States, but the mail is.
var pacific = []struct {
	first, last string
	state, city string
}{
	{"96799", "96799", "AS", "Pago Pago"},
	{"96939", "96940", "PW", "Koror"},
	{"96941", "96944", "FM", "Pohnpei"},
	{"96950", "96952", "MP", "Saipan"},
	{"96960", "96979", "MH", "Majuro"},
}

// PrefixOf returns the prefix that a ZIP lies in; nil for one that the catalogue
// does not know, or too short a text. The State of the prefix is that of the
// ZIP, also where several islands share three digits.
func PrefixOf(zip string) *catalog.Prefix {
	if len(zip) < 3 {
		return nil
	}
	prefix := catalog.PrefixByZip3(zip[:3])
	if prefix == nil || len(zip) < 5 {
		return prefix
	}
	for _, island := range pacific {
		if five := zip[:5]; five >= island.first && five <= island.last {
			return &catalog.Prefix{Zip3: prefix.Zip3, State: island.state, City: island.city, Type: "territory"}
		}
	}
	return prefix
}
