package estimate

// Timeline is the output of the timeline agent. Durations of tasks are working
// days of 8 hours; a lag or a cure that runs on calendar days says so.
type Timeline struct {
	EstimateID    string      `json:"estimateId"`
	Start         Date        `json:"startDate"`
	End           Date        `json:"endDate"`
	StartAssumed  bool        `json:"startDateAssumed"`
	Tasks         []Task      `json:"tasks"`
	Milestones    []Milestone `json:"milestones"`
	CriticalPath  []string    `json:"criticalPath"`  // task ids, in order
	Duration      float64     `json:"totalDuration"` // working days to the early finish of the last task
	CalendarDays  int         `json:"totalCalendarDays"`
	Weeks         float64     `json:"totalWeeks"` // Duration / 5
	DurationRange DaysRange   `json:"durationRange"`
	Weather       WeatherLoss `json:"weatherImpact"`
	Simulation    ScheduleSim `json:"scheduleMonteCarlo"`
	DeadlineMet   *bool       `json:"deadlineMet"` // nil when no deadline was given
	DeadlineNote  string      `json:"deadlineNote,omitempty"`
	ThroughHours  float64     `json:"levelOfEffortHours"` // supervision and daily clean-up: they run through the job and drive no task

	Summary     string     `json:"summary"`
	Assumptions []string   `json:"assumptions"`
	Risks       []string   `json:"scheduleRisks"`
	Confidence  float64    `json:"confidence"`
	NeedsReview bool       `json:"needsReview"`
	Warnings    []string   `json:"warnings"`
	Generated   Date       `json:"generatedDate"`
	Revisions   []Revision `json:"revisions,omitempty"`
}

// Task is an activity. Start is its first working day, End its last.
type Task struct {
	ID           string       `json:"id"`
	Number       int          `json:"number"`
	Name         string       `json:"name"`
	Phase        string       `json:"phase"`
	Duration     float64      `json:"duration"`
	Start        Date         `json:"start"`
	End          Date         `json:"end"`
	Dependencies []string     `json:"dependencies"` // ids
	Links        []Dependency `json:"links"`        // the same with relation and lag
	Critical     bool         `json:"isCritical"`
	Milestone    bool         `json:"isMilestone"`
	Trade        string       `json:"trade"`
	LaborHours   float64      `json:"laborHours"`
	Crew         float64      `json:"crewSize"`
	Exterior     bool         `json:"weatherSensitive"`
	WeatherDays  float64      `json:"weatherDays"`      // expected lost days, part of Duration
	Wait         float64      `json:"calendarDaysWait"` // of a wait: calendar days, likely; Duration is its working days
	ES           float64      `json:"earlyStart"`       // working days from the start of the job
	EF           float64      `json:"earlyFinish"`
	LS           float64      `json:"lateStart"`
	LF           float64      `json:"lateFinish"`
	Float        float64      `json:"totalFloat"`
	Criticality  float64      `json:"criticalityIndex"` // share of simulated schedules in which it is critical
}

// Dependency of a task on another, finish to start or start to start.
type Dependency struct {
	On       string  `json:"on"`
	Relation string  `json:"relation"` // FS or SS
	Lag      float64 `json:"lagDays"`
}

// Milestone is a named day.
type Milestone struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Date        Date   `json:"date"`
	Description string `json:"description"`
}

// DaysRange of the whole job, working days.
type DaysRange struct {
	Optimistic  float64 `json:"optimistic"`
	Expected    float64 `json:"expected"`
	Pessimistic float64 `json:"pessimistic"`
}

// WeatherLoss is what weather is expected to cost on exposed work.
type WeatherLoss struct {
	ExpectedDelay float64 `json:"expectedDelayDays"`
	Buffer        float64 `json:"bufferDays"`
	Level         string  `json:"riskLevel"` // Low, Medium, High
}

// ScheduleSim is the simulated duration, working days.
type ScheduleSim struct {
	Iterations    int               `json:"iterations"`
	Seed          string            `json:"seed"`
	P50           float64           `json:"p50Days"`
	P80           float64           `json:"p80Days"`
	P90           float64           `json:"p90Days"`
	Mean          float64           `json:"meanDays"`
	StdDev        float64           `json:"stdDevDays"`
	Min           float64           `json:"minDays"`
	Max           float64           `json:"maxDays"`
	P10           float64           `json:"p10Days"`
	P50Finish     Date              `json:"p50Finish"`
	P80Finish     Date              `json:"p80Finish"`
	Variance      float64           `json:"criticalPathVariance"` // days²
	RiskIndex     float64           `json:"scheduleRiskIndex"`    // 0–1: coefficient of variation over 0.3
	Deadline      *float64          `json:"deadlineProbability"`  // share of runs that meet it; nil without one
	Histogram     []DayBin          `json:"histogram"`
	Sensitivities []TaskSensitivity `json:"taskSensitivities"`
}

// TaskSensitivity says how much a task drives the finish: its share of the
// variance of the duration. The shares of all tasks sum to 1.
type TaskSensitivity struct {
	TaskID   string  `json:"taskId"`
	TaskName string  `json:"taskName"`
	Share    float64 `json:"varianceContribution"`
	Critical bool    `json:"isCritical"`
}
