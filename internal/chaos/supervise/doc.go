// Package supervise keeps programs running that others kill: it begins them
// again, on the ports they had, kills and suspends them at times that follow from
// a seed, and notes what broke.
package supervise
