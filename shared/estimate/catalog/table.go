package catalog

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

//go:embed data/*.csv
var data embed.FS

// load decodes data/<name>.csv into rows of T. A field of T takes the column
// its `csv` tag names; strings, ints, floats and bools (0/1) are understood,
// and *float64 is nil where the cell is empty. A cell that does not parse is a
// defect of the embedded file and panics at first use; a test loads every table.
func load[T any](name string) []T {
	text, err := data.ReadFile("data/" + name + ".csv")
	if err != nil {
		panic(err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("catalog: %s.csv: %v", name, err))
	}
	columns := map[string]int{}
	for i, c := range records[0] {
		columns[c] = i
	}
	rows := make([]T, len(records)-1)
	for i, record := range records[1:] {
		v := reflect.ValueOf(&rows[i]).Elem()
		for j := range v.NumField() {
			tag := v.Type().Field(j).Tag.Get("csv")
			if tag == "" {
				continue
			}
			column, ok := columns[tag]
			if !ok {
				panic(fmt.Sprintf("catalog: %s.csv has no column %q", name, tag))
			}
			if err := set(v.Field(j), strings.TrimSpace(record[column])); err != nil {
				panic(fmt.Sprintf("catalog: %s.csv line %d column %s: %v", name, i+2, tag, err))
			}
		}
	}
	return rows
}

func set(field reflect.Value, cell string) error {
	if field.Kind() == reflect.Pointer {
		if cell == "" {
			return nil
		}
		field.Set(reflect.New(field.Type().Elem()))
		return set(field.Elem(), cell)
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(cell)
	case reflect.Float64:
		f, err := strconv.ParseFloat(cell, 64)
		field.SetFloat(f)
		return err
	case reflect.Int:
		n, err := strconv.Atoi(cell)
		field.SetInt(int64(n))
		return err
	case reflect.Bool:
		b, err := strconv.ParseBool(cell)
		field.SetBool(b)
		return err
	default:
		return fmt.Errorf("a field of type %s", field.Type())
	}
	return nil
}

// index keys rows by what key returns; a key that repeats is a defect.
func index[K comparable, T any](name string, rows []T, key func(*T) K) map[K]*T {
	m := make(map[K]*T, len(rows))
	for i := range rows {
		k := key(&rows[i])
		if m[k] != nil {
			panic(fmt.Sprintf("catalog: %s.csv has %v twice", name, k))
		}
		m[k] = &rows[i]
	}
	return m
}
