package simulation

func check(w *World) []string { return nil }
