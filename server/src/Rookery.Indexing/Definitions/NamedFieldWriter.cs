using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Writes the fields that a row names: the objects <c>{"$name":…,"$value":…,"$options":…}</c> in its member
/// <c>_</c>, as <c>createField</c> returns them. Not thread-safe.
/// </summary>
/// <param name="definition">The definition.</param>
/// <param name="names">The names.</param>
internal sealed class NamedFieldWriter(StaticIndexDefinition definition, NamedFields names)
{
    /// <summary>The member of a row with the fields that the row names.</summary>
    public const string Member = "_";

    private static readonly JsonDocumentOptions Deep = new() { MaxDepth = 1024 };
    private static readonly FieldReader Value = new(["v"]);

    private readonly FieldEntryWriter _writer = new([]);
    private readonly Analyzer _analyzer = definition.NamedAnalyzer;
    private readonly StaticIndexField _defaults = definition.NamedDefaults;
    private readonly Dictionary<string, Gathered> _fields = new(StringComparer.Ordinal);
    private readonly ArrayBufferWriter<byte> _members = new();

    /// <summary>Writes the fields into the open entry, and appends the stored ones as members.</summary>
    /// <param name="value">The value of the member <c>_</c>.</param>
    /// <param name="entry">The entry.</param>
    /// <param name="stored">Receives <c>"name":value</c> for each stored field; the caller owns the braces.</param>
    /// <exception cref="IndexEntryException">The value is no field or list of fields, or there are too
    /// many.</exception>
    public void Write(ReadOnlySpan<byte> value, IndexEntry entry, ArrayBufferWriter<byte> stored)
    {
        _fields.Clear();
        using (var json = JsonDocument.Parse(value.ToArray(), Deep))
        {
            Gather(json.RootElement);
        }

        foreach (var (name, field) in _fields)
        {
            if (field.Indexing != FieldIndexing.No)
            {
                bool hasWords = field.Indexing == FieldIndexing.Search;
                int position = names.Add(
                    name,
                    (field.IsStored ? NamedFieldUses.Stored : NamedFieldUses.None)
                        | (hasWords ? NamedFieldUses.Words : NamedFieldUses.None)
                );
                _members.ResetWrittenCount();
                _members.Write("\"v\":["u8);
                _members.Write(field.Values.WrittenSpan);
                _members.Write("]"u8);
                _writer.Write(
                    position,
                    new MappedField([name], HasExactValues: true, hasWords ? _analyzer : null),
                    Value,
                    new QueriedDocument(_members.WrittenSpan),
                    entry
                );
            }
            else
            {
                names.Add(name, NamedFieldUses.Stored);
            }

            if (field.IsStored)
            {
                stored.Write(stored.WrittenCount > 1 ? ","u8 : default);
                JsonText.WriteString(stored, Encoding.UTF8.GetBytes(name));
                stored.Write(field.Count > 1 ? ":["u8 : ":"u8);
                stored.Write(field.Values.WrittenSpan);
                stored.Write(field.Count > 1 ? "]"u8 : default);
            }
        }
    }

    private void Gather(JsonElement value)
    {
        switch (value.ValueKind)
        {
            case JsonValueKind.Null:
                break;
            case JsonValueKind.Array:
                foreach (var element in value.EnumerateArray())
                {
                    Gather(element);
                }

                break;
            case JsonValueKind.Object when value.TryGetProperty("$name", out var name):
                GatherField(name, value);
                break;
            default:
                throw new IndexEntryException(
                    "The member '_' of a row takes what createField returns, or a list of it; here it has another "
                        + "value."
                );
        }
    }

    private void GatherField(JsonElement nameElement, JsonElement field)
    {
        string name = nameElement.ValueKind == JsonValueKind.String ? nameElement.GetString()! : "";
        if (name.Length == 0 || Encoding.UTF8.GetByteCount(name) > NamedFields.MaxNameBytes || name is Member)
        {
            throw new IndexEntryException(
                $"createField needs a name, a text of 1 to {NamedFields.MaxNameBytes} bytes other than '_'."
            );
        }

        if (definition.Fields.Any(known => string.Equals(known.Name, name, StringComparison.Ordinal)))
        {
            throw new IndexEntryException(
                $"createField names the field '{name}', which the map returns already. Choose another name."
            );
        }

        var (indexing, isStored) = ReadOptions(field);
        if (!field.TryGetProperty("$value", out var value))
        {
            return; // undefined in the map
        }

        if (!_fields.TryGetValue(name, out var known))
        {
            _fields.Add(name, known = new Gathered(indexing));
        }

        if (known.Indexing != indexing)
        {
            throw new IndexEntryException(
                $"createField gives the field '{name}' two kinds of 'Indexing' for one document: {known.Indexing} and "
                    + $"{indexing}."
            );
        }

        known.IsStored |= isStored || indexing == FieldIndexing.No;
        known.Values.Write(known.Count++ > 0 ? ","u8 : default);
        known.Values.Write(JsonMarshal.GetRawUtf8Value(value));
    }

    private (FieldIndexing Indexing, bool IsStored) ReadOptions(JsonElement field)
    {
        var (indexing, isStored) = (_defaults.Indexing, _defaults.IsStored);
        if (!field.TryGetProperty("$options", out var options) || options.ValueKind == JsonValueKind.Null)
        {
            return (indexing, isStored);
        }

        if (options.ValueKind != JsonValueKind.Object)
        {
            throw new IndexEntryException("The options of createField are an object, such as { storage: true }.");
        }

        foreach (var option in options.EnumerateObject())
        {
            string text = option.Value.ToString();
            switch (option.Name.ToLowerInvariant())
            {
                case "indexing" when EnumName.TryParse(text, out FieldIndexing word):
                    indexing = word;
                    break;
                case "storage" or "store" when text.ToLowerInvariant() is "true" or "yes":
                    isStored = true;
                    break;
                case "storage" or "store" when text.ToLowerInvariant() is "false" or "no":
                    isStored = false;
                    break;
                case "termvector":
                    break; // positions are always stored
                default:
                    if (option.Value.ValueKind == JsonValueKind.Null)
                    {
                        break;
                    }

                    throw new IndexEntryException(
                        $"This server does not support the option '{option.Name}' of createField with the value "
                            + $"'{text}'."
                    );
            }
        }

        return (indexing, isStored);
    }

    private sealed class Gathered(FieldIndexing indexing)
    {
        public FieldIndexing Indexing => indexing;

        public bool IsStored { get; set; }

        public int Count { get; set; }

        public ArrayBufferWriter<byte> Values { get; } = new();
    }
}
