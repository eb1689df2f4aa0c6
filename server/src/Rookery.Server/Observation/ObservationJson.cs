using System.Text.Json;
using Rookery.Server.Alerts;
using Rookery.Server.Operations;

namespace Rookery.Server.Observation;

/// <summary>
/// Reads and writes samples, slow events and alerts as JSON, between members and for the dashboard. Tables are written
/// as names of columns and rows of values. A reader uses the columns that it knows, so members of different versions
/// understand each other.
/// </summary>
internal static class ObservationJson
{
    private const string TimeColumn = "UnixMilliseconds";

    /// <summary>Writes samples as {"Columns","Rows"}.</summary>
    /// <returns>Number of samples.</returns>
    public static int WriteHistory(Utf8JsonWriter json, IEnumerable<SampleRow> rows)
    {
        json.WriteStartObject();
        json.WriteStartArray("Columns"u8);
        json.WriteStringValue(TimeColumn);
        foreach (var figure in Enum.GetValues<Figure>())
        {
            json.WriteStringValue(Figures.NameOf(figure));
        }

        json.WriteEndArray();
        json.WriteStartArray("Rows"u8);
        int count = 0;
        foreach (var row in rows)
        {
            json.WriteStartArray();
            json.WriteNumberValue(row.UnixMilliseconds);
            for (int figure = 0; figure < row.Figures.Length; figure++)
            {
                NodeSample.WriteFigure(json, (Figure)figure, row.Figures[figure]);
            }

            json.WriteEndArray();
            count++;
        }

        json.WriteEndArray();
        json.WriteEndObject();
        return count;
    }

    /// <summary>Reads samples of another member.</summary>
    public static IEnumerable<SampleRow> ReadHistory(JsonElement json)
    {
        string[] columns =
        [
            .. json.GetProperty("Columns"u8)
                .EnumerateArray()
                .Select(static column => column.GetString() ?? string.Empty),
        ];
        foreach (var row in json.GetProperty("Rows"u8).EnumerateArray())
        {
            long time = 0;
            double[] figures = new double[Figures.Count];
            Array.Fill(figures, double.NaN);
            int column = 0;
            if (row.ValueKind != JsonValueKind.Array)
            {
                continue;
            }

            foreach (var value in row.EnumerateArray())
            {
                string name = column < columns.Length ? columns[column] : string.Empty;
                column++;
                if (value.ValueKind != JsonValueKind.Number)
                {
                    continue;
                }

                if (string.Equals(name, TimeColumn, StringComparison.Ordinal))
                {
                    time = value.TryGetInt64(out long milliseconds) ? milliseconds : 0;
                }
                else if (Figures.TryFind(name, out var figure))
                {
                    figures[(int)figure] = value.GetDouble();
                }
            }

            if (time > 0)
            {
                yield return new SampleRow(time, figures);
            }
        }
    }

    /// <summary>Writes slow events as {"Columns","Rows"}, with the columns of /debug/io.</summary>
    public static void WriteSlow(Utf8JsonWriter json, IEnumerable<SlowEvent> events)
    {
        json.WriteStartObject();
        WriteSlowMembers(json, events);
        json.WriteEndObject();
    }

    /// <summary>Writes the members of the object of <see cref="WriteSlow"/>.</summary>
    public static void WriteSlowMembers(Utf8JsonWriter json, IEnumerable<SlowEvent> events)
    {
        json.WriteStartArray("Columns"u8);
        json.WriteStringValue("Kind"u8);
        json.WriteStringValue("StartUnixMicroseconds"u8);
        json.WriteStringValue("DurationMicroseconds"u8);
        json.WriteStringValue("Bytes"u8);
        json.WriteEndArray();
        json.WriteStartArray("Rows"u8);
        foreach (var slowEvent in events)
        {
            json.WriteStartArray();
            json.WriteStringValue(slowEvent.Kind);
            json.WriteNumberValue(slowEvent.StartUnixMicroseconds);
            json.WriteNumberValue(slowEvent.DurationMicroseconds);
            json.WriteNumberValue(slowEvent.Bytes);
            json.WriteEndArray();
        }

        json.WriteEndArray();
    }

    /// <summary>Reads slow events of another member. Rows of an unknown form are skipped.</summary>
    public static IEnumerable<SlowEvent> ReadSlow(JsonElement json) =>
        json.GetProperty("Rows"u8)
            .EnumerateArray()
            .Where(IsSlow)
            .Select(static row => new SlowEvent(
                IoKindName.Shared(row[0].GetString() ?? string.Empty),
                row[1].GetInt64(),
                row[2].GetInt64(),
                row[3].GetInt64()
            ));

    private static bool IsSlow(JsonElement row) =>
        row.ValueKind == JsonValueKind.Array
        && row.GetArrayLength() >= 4
        && row[0].ValueKind == JsonValueKind.String
        && IsLong(row[1])
        && IsLong(row[2])
        && IsLong(row[3]);

    private static bool IsLong(JsonElement value) =>
        value.ValueKind == JsonValueKind.Number && value.TryGetInt64(out _);

    /// <summary>Writes alerts as a list.</summary>
    public static void WriteAlerts(Utf8JsonWriter json, IEnumerable<MemberAlert> alerts)
    {
        json.WriteStartArray();
        foreach (var (node, alert) in alerts)
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, alert.Name);
            json.WriteString("Severity"u8, alert.Severity);
            json.WriteString("Node"u8, node);
            json.WriteString("Since"u8, alert.Since.UtcDateTime);
            json.WriteString("Sentence"u8, alert.Sentence);
            json.WriteString("Fix"u8, alert.Fix);
            json.WriteString("Help"u8, alert.Help);
            json.WriteString("Member"u8, alert.Member);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>Reads alerts of another member.</summary>
    public static IReadOnlyList<MemberAlert> ReadAlerts(JsonElement json) =>
        [
            .. json.EnumerateArray()
                .Select(static alert => new MemberAlert(
                    alert.GetProperty("Node"u8).GetString()!,
                    new ActiveAlert(
                        alert.GetProperty("Name"u8).GetString()!,
                        alert.GetProperty("Severity"u8).GetString()!,
                        alert.GetProperty("Since"u8).GetDateTimeOffset(),
                        alert.GetProperty("Sentence"u8).GetString()!,
                        alert.GetProperty("Fix"u8).GetString()!,
                        alert.GetProperty("Help"u8).GetString()!,
                        alert.TryGetProperty("Member"u8, out var member) ? member.GetString() : null
                    )
                )),
        ];

    /// <summary>Writes a value that may be null.</summary>
    public static void WriteOptional(Utf8JsonWriter json, ReadOnlySpan<byte> name, double? value)
    {
        if (value is { } known)
        {
            json.WriteNumber(name, known);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    /// <inheritdoc cref="WriteOptional(Utf8JsonWriter, ReadOnlySpan{byte}, double?)"/>
    public static void WriteOptional(Utf8JsonWriter json, ReadOnlySpan<byte> name, long? value)
    {
        if (value is { } known)
        {
            json.WriteNumber(name, known);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    /// <inheritdoc cref="WriteOptional(Utf8JsonWriter, ReadOnlySpan{byte}, double?)"/>
    public static void WriteOptional(Utf8JsonWriter json, ReadOnlySpan<byte> name, bool? value)
    {
        if (value is { } known)
        {
            json.WriteBoolean(name, known);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    /// <summary>Reads a member of an object; null if it is not a number.</summary>
    public static long? ReadLong(JsonElement json, ReadOnlySpan<byte> name) =>
        json.GetProperty(name) is { ValueKind: JsonValueKind.Number } value ? value.GetInt64() : null;

    /// <inheritdoc cref="ReadLong"/>
    public static double? ReadDouble(JsonElement json, ReadOnlySpan<byte> name) =>
        json.GetProperty(name) is { ValueKind: JsonValueKind.Number } value ? value.GetDouble() : null;
}
