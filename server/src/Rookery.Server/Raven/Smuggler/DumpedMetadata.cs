using System.Text;
using System.Text.Json;
using Rookery.Json;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>What the metadata of a document or a revision in a dump says beside its collection and id.</summary>
internal sealed class DumpedMetadata
{
    private readonly List<DumpedAttachment> _attachments = [];
    private readonly List<(string Name, long Value)> _counters = [];

    /// <summary>Time of the last change, in UTC ticks; 0 if the dump does not say it.</summary>
    public long Ticks { get; private set; }

    /// <summary>Whether it is the revision of a deletion.</summary>
    public bool IsDeletion { get; private set; }

    /// <summary>Whether a client forced the creation of the revision.</summary>
    public bool IsForced { get; private set; }

    /// <summary>The attachments.</summary>
    public IReadOnlyList<DumpedAttachment> Attachments => _attachments;

    /// <summary>The counters of a revision.</summary>
    public IReadOnlyList<(string Name, long Value)> Counters => _counters;

    /// <summary>Reads the metadata of a document.</summary>
    /// <param name="document">Its JSON, which is valid.</param>
    /// <exception cref="FormatException">A list has an unexpected form. Exceptions of JSON readers mean the
    /// same.</exception>
    public static DumpedMetadata Read(ReadOnlySpan<byte> document)
    {
        var read = new DumpedMetadata();
        var json = new Utf8JsonReader(document, new JsonReaderOptions { MaxDepth = 130 });
        json.Read();
        JsonBody.ForEachMember(
            ref json,
            (string name, ref Utf8JsonReader value) =>
            {
                if (name is "@metadata" && value.TokenType == JsonTokenType.StartObject)
                {
                    JsonBody.ForEachMember(ref value, read.ReadMember);
                }
                else
                {
                    value.Skip();
                }
            }
        );
        return read;
    }

    private void ReadMember(string name, ref Utf8JsonReader value)
    {
        switch (name)
        {
            case "@last-modified" when value.TokenType == JsonTokenType.String:
                Ticks = WireDate.TryParse(Encoding.UTF8.GetBytes(value.GetString()!), out long ticks) ? ticks : 0;
                break;
            case "@flags" when value.TokenType == JsonTokenType.String:
                string[] flags = value.GetString()!.Split(',', StringSplitOptions.TrimEntries);
                IsDeletion = flags.Contains("DeleteRevision", StringComparer.Ordinal);
                IsForced = flags.Contains("ForceCreated", StringComparer.Ordinal);
                break;
            case "@attachments" when value.TokenType == JsonTokenType.StartArray:
                using (var entries = JsonDocument.ParseValue(ref value))
                {
                    _attachments.AddRange(entries.RootElement.EnumerateArray().Select(DumpedAttachment.Of));
                }

                break;
            case "@counters-snapshot" when value.TokenType == JsonTokenType.StartObject:
                using (var counters = JsonDocument.ParseValue(ref value))
                {
                    foreach (var counter in counters.RootElement.EnumerateObject())
                    {
                        _counters.Add((counter.Name, counter.Value.GetInt64()));
                    }
                }

                break;
            default:
                value.Skip();
                break;
        }
    }
}

/// <summary>An attachment as the metadata of a document in a dump lists it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="ContentType">Its content type; empty if none was given.</param>
/// <param name="Hash">The hash of its content in base64.</param>
internal sealed record DumpedAttachment(string Name, string ContentType, string Hash)
{
    /// <summary>Reads an entry of the list.</summary>
    /// <exception cref="FormatException">It has no name.</exception>
    public static DumpedAttachment Of(JsonElement entry) =>
        new(
            Text(entry, "Name") is { Length: > 0 } name ? name : throw new FormatException("no Name"),
            Text(entry, "ContentType"),
            Text(entry, "Hash")
        );

    private static string Text(JsonElement entry, string name) =>
        entry.TryGetProperty(name, out var value) ? value.GetString() ?? "" : "";
}
