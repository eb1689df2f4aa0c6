using System.Buffers;
using System.Text.Json;

namespace Rookery.Server.Alerts;

/// <summary>The message about one alert that is sent to the webhook.</summary>
/// <param name="State">"firing", "resolved" or "test".</param>
/// <param name="Cluster">Name of the cluster; empty for a single node.</param>
/// <param name="Node">Tag of the node that reports the alert.</param>
/// <param name="Alert">The alert.</param>
/// <param name="Time">When the alert began or ended.</param>
/// <param name="Address">URL of the sending node, for a link to its manual; null if it is not known.</param>
internal sealed record AlertMessage(
    string State,
    string Cluster,
    string Node,
    ActiveAlert Alert,
    DateTimeOffset Time,
    Uri? Address
)
{
    public const string Firing = "firing";
    public const string Resolved = "resolved";
    public const string Test = "test";

    // ntfy has priorities 1 to 5; 3 is the default.
    private const int DefaultPriority = 3;

    private string Help => Address is null ? Alert.Help : new Uri(Address, Alert.Help).ToString();

    private string Title =>
        $"{(Cluster.Length > 0 ? Cluster + " " : string.Empty)}{Alert.Member ?? Node}: {Alert.Name}"
        + $"{(string.Equals(State, Resolved, StringComparison.Ordinal) ? " is over" : string.Empty)}";

    /// <summary>Returns the body of the request.</summary>
    /// <param name="topic">Topic of ntfy; null for the form "json".</param>
    public byte[] Encode(string? topic)
    {
        var body = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(body))
        {
            json.WriteStartObject();
            if (topic is null)
            {
                WriteOwn(json);
            }
            else
            {
                WriteNtfy(json, topic);
            }

            json.WriteEndObject();
        }

        return body.WrittenSpan.ToArray();
    }

    private void WriteOwn(Utf8JsonWriter json)
    {
        json.WriteString("State"u8, State);
        json.WriteString("Name"u8, Alert.Name);
        json.WriteString("Severity"u8, Alert.Severity);
        json.WriteString("Cluster"u8, Cluster);
        json.WriteString("Node"u8, Node);
        json.WriteString("Since"u8, Alert.Since.UtcDateTime);
        json.WriteString("Time"u8, Time.UtcDateTime);
        json.WriteString("Sentence"u8, Alert.Sentence);
        json.WriteString("Fix"u8, Alert.Fix);
        json.WriteString("Help"u8, Help);
        json.WriteString("Member"u8, Alert.Member);
    }

    /// <summary>Writes the form of ntfy: https://docs.ntfy.sh/publish/#publish-as-json.</summary>
    private void WriteNtfy(Utf8JsonWriter json, string topic)
    {
        bool isFiring = string.Equals(State, Firing, StringComparison.Ordinal);
        bool isCritical = isFiring && string.Equals(Alert.Severity, AlertSeverity.Critical, StringComparison.Ordinal);
        json.WriteString("topic"u8, topic);
        json.WriteString("title"u8, Title);
        json.WriteString("message"u8, isFiring ? $"{Alert.Sentence} {Alert.Fix}" : Alert.Sentence);
        json.WriteNumber(
            "priority"u8,
            isCritical ? DefaultPriority + 2
                : isFiring ? DefaultPriority + 1
                : DefaultPriority
        );
        json.WriteStartArray("tags"u8);
        json.WriteStringValue(
            isCritical ? "rotating_light"
            : isFiring ? "warning"
            : "white_check_mark"
        );
        json.WriteEndArray();
        if (Address is not null)
        {
            json.WriteString("click"u8, Help);
        }
    }
}
