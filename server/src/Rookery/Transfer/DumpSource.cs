using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>
/// Reads a dump of RavenDB (.ravendbdump): one object
/// {"BuildVersion":…,"DatabaseRecord":{…},"Docs":[…],"Indexes":[…],"Identities":[…],…}. In the middle of the JSON, raw
/// bytes follow the object of an attachment or time series. Documents are returned one by one, and identities in
/// batches. Index definitions are kept for the end. All other parts are counted and skipped.
/// </summary>
internal sealed class DumpSource : IRecordSource
{
    // A dump may come from a stranger, so the kept and shown parts are bounded.
    private const int MaxKinds = 64;
    private const int LongestKind = 60;
    private const int MaxIndexes = 100_000;
    private const int IdentitiesAtOnce = 1000;

    private readonly JsonElements _json;
    private readonly OneLine _line = new();
    private readonly SortedDictionary<string, long> _skipped = new(StringComparer.Ordinal);
    private readonly List<(string Name, long Value)> _identities = [];
    private string? _section; // the array whose elements are read next; null between two members
    private bool _isAtFirstMember = true;
    private bool _isOver;
    private long _documents;

    /// <summary>Reads the beginning of the dump.</summary>
    /// <exception cref="BadInputException">The input is not a dump.</exception>
    public DumpSource(ByteSource bytes)
    {
        _json = new JsonElements(bytes);
        _json.Take('{');
    }

    public string PlaceName => "document";

    /// <summary>The RavenDB build that wrote the dump; null if it is not stated.</summary>
    public string? BuildVersion { get; private set; }

    /// <summary>The definitions of static indexes; complete once the whole dump is read.</summary>
    public List<JsonElement> Indexes { get; } = [];

    /// <summary>Returns the name of an index for messages; a dash if its definition has no readable name.</summary>
    public static string NameOf(JsonElement index)
    {
        try
        {
            return TryGetMember(index, "Name"u8, out var name) && name.ValueKind == JsonValueKind.String
                ? name.GetString()!
                : "-";
        }
        catch (InvalidOperationException)
        {
            return "-"; // half of a surrogate pair, or invalid UTF-8
        }
    }

    /// <summary>The skipped parts and their counts, by their names in the dump.</summary>
    public IReadOnlyDictionary<string, long> Skipped => _skipped;

    /// <summary>
    /// Returns the identities read since the last call: names and last values. Called at each pause and at the end.
    /// </summary>
    public (string Name, long Value)[] TakeIdentities()
    {
        (string Name, long Value)[] taken = [.. _identities];
        _identities.Clear();
        return taken;
    }

    /// <summary>
    /// Reads to the end of the input, after the whole dump was read and stored. Only there is the checksum of a
    /// compressed dump compared.
    /// </summary>
    /// <exception cref="BadInputException">More data follow the dump, such as a second dump, or the input is
    /// damaged.</exception>
    public void RequireEnd()
    {
        if (_json.TryPeek(out _))
        {
            throw new BadInputException(
                $"The dump is stored. It ends after document {_documents}, but the file continues after it, and that "
                    + $"part was not read. Import each dump from a file of its own."
            );
        }
    }

    public bool TryRead(out ImportRecord record)
    {
        try
        {
            return TryReadNext(out record);
        }
        catch (Exception unexpected)
            when (unexpected
                    is FormatException
                        or OverflowException
                        or KeyNotFoundException
                        or InvalidOperationException
                        or JsonException
            )
        {
            throw new BadInputException(
                $"After document {_documents} the dump has an unexpected form: {unexpected.Message}"
            );
        }
    }

    private bool TryReadNext(out ImportRecord record)
    {
        record = default;
        while (!_isOver)
        {
            if (_section is not { } section)
            {
                AdvanceToElements();
                continue;
            }

            bool isElement = TryTakeElement(out var element);
            if (isElement && section is not ("Docs" or "Results"))
            {
                StoreElement(section, element);
                if (_identities.Count >= IdentitiesAtOnce)
                {
                    record = ImportRecord.Pause;
                    return true;
                }
            }
            else if (isElement && IsDocument(element))
            {
                var document = _line.Of(JsonMarshal.GetRawUtf8Value(element));
                _documents++;
                record = new ImportRecord(document, _documents);
                return true;
            }
        }

        return false;
    }

    /// <summary>Skips a member, enters an array, or reaches the end of the dump.</summary>
    private void AdvanceToElements()
    {
        if (!TryTakeSeparator())
        {
            _isOver = true;
            return;
        }

        string name = _json.TakeText();
        _json.Take(':');
        if (_json.Peek() != '[')
        {
            // If such a part were skipped, the documents of a damaged dump would be missing without an error. An 'n'
            // begins null, which is an empty part.
            if (name is "Docs" or "Results" or "Identities" or "Indexes" && _json.Peek() != 'n')
            {
                throw new FormatException($"{name} is not a list.");
            }

            ReadSingle(name);
            return;
        }

        _json.Take('[');
        if (_json.Peek() == ']')
        {
            _json.Take(']');
        }
        else
        {
            _section = name;
        }
    }

    /// <summary>Takes the comma before a member, if it is not the first, or the brace at the end.</summary>
    /// <returns>Whether a member follows.</returns>
    private bool TryTakeSeparator()
    {
        if (!_isAtFirstMember)
        {
            return _json.TakeCommaOr('}');
        }

        _isAtFirstMember = false;
        if (_json.Peek() != '}')
        {
            return true;
        }

        _json.Take('}');
        return false;
    }

    private void ReadSingle(string name)
    {
        var value = _json.TakeValue();
        if (name is "BuildVersion")
        {
            BuildVersion = System.Text.Encoding.UTF8.GetString(value.Span);
        }
        else
        {
            CountSkipped(Table.Cut(name, LongestKind), count: 1);
        }
    }

    /// <summary>Takes an element with the raw bytes after it, and the separator.</summary>
    /// <returns>False if the element only describes raw bytes.</returns>
    private bool TryTakeElement(out JsonElement element)
    {
        using var parsed = JsonDocument.Parse(_json.TakeValue(), JsonElements.Parsing);
        element = parsed.RootElement.Clone();
        var (kind, size) = BlobAfter(element);
        if (kind is not null)
        {
            _json.Skip(size);
            CountSkipped(kind, count: 1);
        }

        _section = _json.TakeCommaOr(']') ? _section : null;
        return kind is null;
    }

    /// <summary>
    /// Returns the kind and the size in bytes of the raw bytes that follow an element; null and 0 for none.
    /// </summary>
    private static (string? Kind, long Size) BlobAfter(JsonElement element)
    {
        if (element.ValueKind != JsonValueKind.Object)
        {
            return default;
        }

        if (TryGetMember(element, "@raven-blob-size"u8, out var segment))
        {
            return ("TimeSeries", segment.GetInt64());
        }

        return
            TryGetMember(element, "@metadata"u8, out var metadata)
            && metadata.ValueKind == JsonValueKind.Object
            && TryGetMember(metadata, "@export-type"u8, out var type)
            && JsonMarshal.GetRawUtf8Value(type).SequenceEqual("\"Attachment\""u8)
            ? ("Attachments", element.GetProperty("Size").GetInt64())
            : default;
    }

    /// <summary>
    /// Finds a member even if another name has an invalid escape, for which
    /// <see cref="JsonElement.TryGetProperty(ReadOnlySpan{byte}, out JsonElement)"/> throws. The node refuses the
    /// documents with such names one by one.
    /// </summary>
    private static bool TryGetMember(JsonElement element, ReadOnlySpan<byte> name, out JsonElement value)
    {
        foreach (var member in element.EnumerateObject())
        {
            if (IsNamed(member, name))
            {
                value = member.Value;
                return true;
            }
        }

        value = default;
        return false;
    }

    private static bool IsNamed(JsonProperty member, ReadOnlySpan<byte> name)
    {
        try
        {
            return member.NameEquals(name);
        }
        catch (InvalidOperationException)
        {
            return false;
        }
    }

    private bool IsDocument(JsonElement element)
    {
        if (element.ValueKind != JsonValueKind.Object)
        {
            throw new FormatException("A document is not an object.");
        }

        // Entries without an id are not documents: conflicts, and other entries of older builds.
        bool isDocument =
            TryGetMember(element, "@metadata"u8, out var metadata)
            && metadata.ValueKind == JsonValueKind.Object
            && TryGetMember(metadata, "@id"u8, out _);
        if (!isDocument)
        {
            CountSkipped("Docs without an id", count: 1);
        }

        return isDocument;
    }

    private void StoreElement(string section, JsonElement element)
    {
        switch (section)
        {
            case "Identities"
                when element.TryGetProperty("Key", out var key) && element.TryGetProperty("Value", out var value):
                // The value is a string in current dumps, a number in old ones.
                string last = value.ValueKind == JsonValueKind.String ? value.GetString()! : value.GetRawText();
                string name = key.GetString() ?? throw new FormatException("An identity has no name.");
                _identities.Add((name, long.Parse(last, CultureInfo.InvariantCulture)));
                break;
            case "Indexes" when element.TryGetProperty("IndexDefinition", out var definition) && IsStatic(element):
                AddIndex(definition);
                break;
            case "Indexes" when !IsStatic(element):
                CountSkipped("Indexes (automatic; queries create them again)", count: 1);
                break;
            case "Indexes":
                CountSkipped("Indexes without a definition", count: 1);
                break;
            default:
                CountSkipped(Table.Cut(section, LongestKind), count: 1);
                break;
        }
    }

    private static bool IsStatic(JsonElement index) =>
        index.TryGetProperty("Type", out var type)
        && type.GetString() is "Map" or "MapReduce" or "JavaScriptMap" or "JavaScriptMapReduce";

    private void CountSkipped(string name, long count)
    {
        string kind = _skipped.Count < MaxKinds || _skipped.ContainsKey(name) ? name : "other members";
        _skipped[kind] = _skipped.GetValueOrDefault(kind) + count;
    }

    private void AddIndex(JsonElement index)
    {
        if (index.ValueKind != JsonValueKind.Object)
        {
            throw new FormatException("The definition of an index is not an object.");
        }

        if (Indexes.Count >= MaxIndexes)
        {
            throw new BadInputException($"The dump has more than {MaxIndexes} indexes, more than any database has.");
        }

        Indexes.Add(index);
    }
}
