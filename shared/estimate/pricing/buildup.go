package pricing

// work is one line with everything that multiplies: prices local and escalated,
// hours after every factor. Shares are fractions.
type work struct {
	qty       float64 // net
	waste     float64
	material  float64 // $ per unit ordered
	hours     float64 // worker-hours per unit
	rate      float64 // $ per worker-hour, burdened
	equipment float64 // $ per unit
	tax       float64 // on material
	sub       subterms
}

// subterms is what a subcontractor adds to his own cost; the zero value is work
// done by the firm itself.
type subterms struct{ material, labor, equipment float64 }

// subEquipment is what a subcontractor adds to the cost of his equipment.
const subEquipment = 0.10

// buildup is the price of a line as estimating practice tabulates it.
type buildup struct {
	material  float64 // with sales tax
	tax       float64 // part of material
	hours     float64
	labor     float64
	equipment float64
	sub       float64 // the subcontractor's overhead and profit
	direct    float64
}

func (w work) build() buildup {
	net := w.qty * (1 + w.waste) * w.material
	b := buildup{
		material: net * (1 + w.tax), tax: net * w.tax,
		hours: w.qty * w.hours, labor: w.qty * w.hours * w.rate,
		equipment: w.qty * w.equipment,
	}
	b.sub = b.material*w.sub.material + b.labor*w.sub.labor + b.equipment*w.sub.equipment
	b.direct = b.material + b.labor + b.equipment + b.sub
	return b
}

// shown is the same price in the columns of the bill of quantities: the
// subcontractor's overhead and profit in each, sales tax by itself.
type shown struct{ material, labor, equipment, tax float64 }

func (w work) show(b buildup) shown {
	return shown{
		material:  (b.material - b.tax) * (1 + w.sub.material),
		labor:     b.labor * (1 + w.sub.labor),
		equipment: b.equipment * (1 + w.sub.equipment),
		tax:       b.tax * (1 + w.sub.material),
	}
}

func (s shown) cost() float64 { return s.material + s.labor + s.equipment }

// markups of a contract, as fractions of cost, in the order they are applied.
type markups struct{ design, general, overhead, profit float64 }

// contract is the price that the owner signs, before permits.
type contract struct{ direct, design, general, overhead, profit, price float64 }

// on applies the markups to a direct cost.
func (m markups) on(direct float64) contract {
	c := contract{direct: direct, design: m.design * direct, general: m.general * direct}
	c.overhead = m.overhead * (direct + c.design + c.general)
	c.profit = m.profit * (direct + c.design + c.general + c.overhead)
	c.price = direct + c.design + c.general + c.overhead + c.profit
	return c
}
