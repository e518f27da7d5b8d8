package pubsub

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Limits and defaults of the service: https://cloud.google.com/pubsub/quotas.
const (
	maxRequest        = 10_000_000 // bytes of a publish request
	maxBatch          = 1000       // messages of a publish request
	maxAttributes     = 100
	maxAttributeKey   = 256  // bytes
	maxAttributeValue = 1024 // bytes
	maxOrderingKey    = 1024 // bytes

	defaultAckDeadline  = 10 // seconds, as are the next two
	minAckDeadline      = 10
	maxAckDeadline      = 600
	defaultRetention    = 7 * 24 * time.Hour
	maxBackoff          = 600 * time.Second
	defaultMinBackoff   = 10 * time.Second
	minDeliveryAttempts = 5
	maxDeliveryAttempts = 100

	// Without a retry policy a push is repeated at these paces, a pull at once.
	pushMinBackoff = 100 * time.Millisecond
	pushMaxBackoff = 60 * time.Second
)

var resourceName = regexp.MustCompile(`^projects/[^/]+/(topics|subscriptions)/([A-Za-z][A-Za-z0-9\-_.~+%]{2,254})$`)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

func notFound(name string) error {
	return status.Errorf(codes.NotFound, "Resource not found (resource=%s).", name)
}

// checkName accepts projects/P/<collection>/ID.
func checkName(name, collection string) error {
	m := resourceName.FindStringSubmatch(name)
	if m == nil || m[1] != collection || strings.HasPrefix(m[2], "goog") {
		return invalid("Invalid [%s] name: (name=%s)", collection, name)
	}
	return nil
}

func checkTopic(t *pubsubpb.Topic) error {
	if err := checkName(t.Name, "topics"); err != nil {
		return err
	}
	return absent(
		feature{"schema_settings", t.SchemaSettings != nil},
		feature{"ingestion_data_source_settings", t.IngestionDataSourceSettings != nil},
		feature{"message_transforms", len(t.MessageTransforms) > 0},
	)
}

type feature struct {
	field string
	asked bool
}

// absent refuses what this server lacks and could not do faithfully.
func absent(features ...feature) error {
	for _, f := range features {
		if f.asked {
			return status.Errorf(codes.Unimplemented, "%s is not served by this emulator", f.field)
		}
	}
	return nil
}

func checkPublish(req *pubsubpb.PublishRequest) error {
	switch n := len(req.Messages); {
	case n == 0:
		return invalid("The value for message_count is too small. You passed 0 in the request, but the minimum value is 1.")
	case n > maxBatch:
		return invalid("The value for message_count is too large. You passed %d in the request, but the maximum value is %d.", n, maxBatch)
	}
	if size := proto.Size(req); size > maxRequest {
		return invalid("Request payload size exceeds the limit: %d bytes.", maxRequest)
	}
	for _, m := range req.Messages {
		if err := checkMessage(m); err != nil {
			return err
		}
	}
	return nil
}

func checkMessage(m *pubsubpb.PubsubMessage) error {
	if len(m.GetData()) == 0 && len(m.GetAttributes()) == 0 {
		return invalid("Some messages in the publish request are empty. Each message must contain either non-empty data, or at least one attribute.")
	}
	if n := len(m.Attributes); n > maxAttributes {
		return invalid("A message has %d attributes; the maximum is %d.", n, maxAttributes)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Attributes)) {
		if k == "" || len(k) > maxAttributeKey {
			return invalid("An attribute key has %d bytes; it must have 1 to %d.", len(k), maxAttributeKey)
		}
		if n := len(m.Attributes[k]); n > maxAttributeValue {
			return invalid("An attribute value has %d bytes; the maximum is %d.", n, maxAttributeValue)
		}
	}
	if n := len(m.OrderingKey); n > maxOrderingKey {
		return invalid("An ordering key has %d bytes; the maximum is %d.", n, maxOrderingKey)
	}
	return nil
}

// completeSubscription fills in the defaults of the service and refuses what
// it refuses.
func completeSubscription(s *pubsubpb.Subscription) error {
	if err := checkName(s.Name, "subscriptions"); err != nil {
		return err
	}
	if err := absent(
		feature{"filter", s.Filter != ""},
		feature{"enable_exactly_once_delivery", s.EnableExactlyOnceDelivery},
		feature{"bigquery_config", s.BigqueryConfig != nil},
		feature{"cloud_storage_config", s.CloudStorageConfig != nil},
		feature{"bigtable_config", s.BigtableConfig != nil},
		feature{"message_transforms", len(s.MessageTransforms) > 0},
		feature{"no_wrapper", s.PushConfig.GetNoWrapper() != nil},
	); err != nil {
		return err
	}
	if s.AckDeadlineSeconds == 0 {
		s.AckDeadlineSeconds = defaultAckDeadline
	}
	if d := s.AckDeadlineSeconds; d < minAckDeadline || d > maxAckDeadline {
		return invalid("Invalid ack deadline given: %d seconds. It must be between %d and %d.", d, minAckDeadline, maxAckDeadline)
	}
	if err := checkPush(s.PushConfig); err != nil {
		return err
	}
	if err := checkRetry(s.RetryPolicy); err != nil {
		return err
	}
	return completeDeadLetter(s.DeadLetterPolicy)
}

func checkPush(c *pubsubpb.PushConfig) error {
	if c.GetPushEndpoint() == "" {
		return nil
	}
	u, err := url.Parse(c.PushEndpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return invalid("Invalid push endpoint given (endpoint=%s). Refer to the documentation on push endpoints.", c.PushEndpoint)
	}
	return nil
}

func checkRetry(p *pubsubpb.RetryPolicy) error {
	if p == nil {
		return nil
	}
	low, high := backoffOf(p)
	if low < 0 || high > maxBackoff || low > high {
		return invalid("Invalid retry policy: backoff from %v to %v. Both must be between 0s and %v, the minimum first.", low, high, maxBackoff)
	}
	return nil
}

func completeDeadLetter(p *pubsubpb.DeadLetterPolicy) error {
	if p == nil {
		return nil
	}
	if p.MaxDeliveryAttempts == 0 {
		p.MaxDeliveryAttempts = minDeliveryAttempts
	}
	switch n := p.MaxDeliveryAttempts; {
	case n < minDeliveryAttempts:
		return status.Errorf(codes.OutOfRange, "The value for max_delivery_attempts is too small. You passed %d in the request, but the minimum value is %d.", n, minDeliveryAttempts)
	case n > maxDeliveryAttempts:
		return status.Errorf(codes.OutOfRange, "The value for max_delivery_attempts is too large. You passed %d in the request, but the maximum value is %d.", n, maxDeliveryAttempts)
	}
	return checkName(p.DeadLetterTopic, "topics")
}

// backoffOf returns the bounds of a retry policy that is there.
func backoffOf(p *pubsubpb.RetryPolicy) (low, high time.Duration) {
	low, high = defaultMinBackoff, maxBackoff
	if p.MinimumBackoff != nil {
		low = p.MinimumBackoff.AsDuration()
	}
	if p.MaximumBackoff != nil {
		high = p.MaximumBackoff.AsDuration()
	}
	return low, high
}
