using System.Text.Json;

namespace Rookery.Documents.Schedules;

/// <summary>
/// The progress of registering the documents that were stored before the database kept schedules. A pass walks over the
/// ids in order, and skips documents that cannot be read. Another member may repair them, so further passes over their
/// range follow until none is skipped. Stored as a configuration: <c>true</c> at the end, otherwise an object.
/// </summary>
internal readonly record struct ScheduleProgress
{
    private static readonly JsonEncodedText AfterName = JsonEncodedText.Encode("After");
    private static readonly JsonEncodedText EndName = JsonEncodedText.Encode("End");
    private static readonly JsonEncodedText SkippedName = JsonEncodedText.Encode("Skipped");
    private static readonly JsonEncodedText SkippedEndName = JsonEncodedText.Encode("SkippedEnd");

    public ScheduleProgress() { }

    /// <summary>Whether all documents are registered.</summary>
    public bool IsDone { get; init; }

    /// <summary>The id after which the pass continues; empty at the beginning.</summary>
    public string After { get; init; } = "";

    /// <summary>The id at which the pass ends; null for the last document.</summary>
    public string? End { get; init; }

    /// <summary>The id before the first damage of the pass; null without damage.</summary>
    public string? Skipped { get; init; }

    /// <summary>The id after the last damage; null if none follows.</summary>
    public string? SkippedEnd { get; init; }

    /// <summary>Returns the progress at the end of a pass.</summary>
    public ScheduleProgress EndPass() =>
        Skipped is null ? new ScheduleProgress { IsDone = true } : new() { After = Skipped, End = SkippedEnd };

    /// <summary>Reads the configuration.</summary>
    public static ScheduleProgress Parse(ReadOnlyMemory<byte> json)
    {
        using var document = JsonDocument.Parse(json);
        var root = document.RootElement;
        return root.ValueKind != JsonValueKind.Object
            ? new ScheduleProgress { IsDone = true }
            : new ScheduleProgress
            {
                After = Read(AfterName) ?? "",
                End = Read(EndName),
                Skipped = Read(SkippedName),
                SkippedEnd = Read(SkippedEndName),
            };

        string? Read(JsonEncodedText name) =>
            root.TryGetProperty(name.EncodedUtf8Bytes, out var value) ? value.GetString() : null;
    }

    /// <summary>Writes the configuration.</summary>
    public byte[] ToJson()
    {
        if (IsDone)
        {
            return [.. "true"u8];
        }

        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteString(AfterName, After);
            WriteIfSet(json, EndName, End);
            WriteIfSet(json, SkippedName, Skipped);
            WriteIfSet(json, SkippedEndName, SkippedEnd);
            json.WriteEndObject();
        }

        return buffer.ToArray();

        static void WriteIfSet(Utf8JsonWriter json, JsonEncodedText name, string? value)
        {
            if (value is not null)
            {
                json.WriteString(name, value);
            }
        }
    }
}
