using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Rookery.Documents;

namespace Rookery.Indexing.Indexes;

/// <summary>An index that a query made: the values of some fields of a collection. Its name follows from what it holds, so all members that need the same one define the same one.</summary>
public sealed record AutoIndexDefinition : IAutoDefinition
{
    /// <summary>What <see cref="Collection"/> is called where an index of all documents is shown.</summary>
    public const string AllDocuments = "@all_docs";

    internal const string TypeName = "AutoMap";

    // Part of the format, whatever the properties are called.
    private const string CollectionMember = "Collection";
    private const string FieldsMember = "Fields";

    // The rest of the name of an index of many fields is a hash: names have an end.
    private const int MaxNameBytes = 256;
    private const string NameOfAll = "AllDocs";

    /// <summary>An automatic index.</summary>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="fields">Its fields, each path once.</param>
    public AutoIndexDefinition(string? collection, IEnumerable<AutoIndexField> fields)
    {
        Collection = collection;
        Fields = [.. fields.OrderBy(static field => field.Name, StringComparer.Ordinal)];
    }

    /// <summary>The collection; null for all documents.</summary>
    public string? Collection { get; }

    /// <summary>Its fields, ordered by name.</summary>
    public IReadOnlyList<AutoIndexField> Fields { get; }

    /// <summary>What it is called: <c>Auto/Users/ByAgeAndSearch(bio)</c>.</summary>
    public string Name
    {
        get
        {
            string name = $"Auto/{Collection ?? NameOfAll}/By{string.Join("And", Fields.Select(NameOf))}";
            return Encoding.UTF8.GetByteCount(name) <= MaxNameBytes && IndexRecord.NameProblem(name) is null
                ? name
                : $"Auto/{Convert.ToHexStringLower(SHA256.HashData(ToJson()).AsSpan(0, 16))}";
        }
    }

    /// <summary>Whether what was built by this definition answers what <paramref name="other"/> is for.</summary>
    public bool Covers(AutoIndexDefinition other) =>
        HasCollectionOf(other) && other.Fields.All(wanted => Fields.Any(field => field.Covers(wanted)));

    /// <summary>Whether both are of the same documents.</summary>
    public bool HasCollectionOf(AutoIndexDefinition other) => string.Equals(Collection, other.Collection, StringComparison.OrdinalIgnoreCase);

    /// <summary>A definition that covers both.</summary>
    public AutoIndexDefinition MergedWith(AutoIndexDefinition other)
    {
        var merged = Fields.ToList();
        foreach (var field in other.Fields)
        {
            int same = merged.FindIndex(field.HasPathOf);
            if (same < 0)
            {
                merged.Add(field);
            }
            else
            {
                merged[same] = merged[same] with { Uses = merged[same].Uses | field.Uses };
            }
        }

        return new AutoIndexDefinition(Collection, merged);
    }

    /// <summary>The definition as it goes through the log: one form for one content.</summary>
    public byte[] ToJson()
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            json.WriteString("Type", TypeName);
            json.WriteString(CollectionMember, Collection);
            json.WriteStartArray(FieldsMember);
            foreach (var field in Fields)
            {
                json.WriteStartObject();
                json.WriteStartArray("Path");
                foreach (string name in field.Path)
                {
                    json.WriteStringValue(name);
                }

                json.WriteEndArray();
                json.WriteNumber("Uses", (byte)field.Uses);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>Reads the definition of an index; null when it is of another kind.</summary>
    /// <exception cref="IndexDefinitionException">It says nothing that this program understands.</exception>
    public static AutoIndexDefinition? TryRead(ReadOnlyMemory<byte> definition)
    {
        try
        {
            using var json = JsonDocument.Parse(definition);
            return json.RootElement.ValueKind == JsonValueKind.Object && json.RootElement.TryGetProperty("Type", out var type) && type.ValueEquals(TypeName) ? Parse(json.RootElement) : null;
        }
        catch (JsonException)
        {
            throw new IndexDefinitionException("its definition is no JSON.");
        }
    }

    /// <summary>Reads what <see cref="ToJson"/> wrote.</summary>
    /// <exception cref="IndexDefinitionException">It says nothing that this program understands.</exception>
    internal static AutoIndexDefinition Parse(JsonElement json)
    {
        try
        {
            return new AutoIndexDefinition(json.GetProperty(CollectionMember).GetString(), json.GetProperty(FieldsMember).EnumerateArray().Select(ParseField));
        }
        catch (Exception wrong) when (wrong is InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new IndexDefinitionException("The definition of an automatic index was written by a newer version of Rookery; start that one.");
        }
    }

    private static AutoIndexField ParseField(JsonElement field)
    {
        string[] path = [.. field.GetProperty("Path").EnumerateArray().Select(static name => name.GetString() ?? throw new FormatException())];
        var uses = (AutoIndexFieldUses)field.GetProperty("Uses").GetByte();
        return path.Length > 0 && (uses & ~(AutoIndexFieldUses.Exact | AutoIndexFieldUses.Search)) == AutoIndexFieldUses.None ? new AutoIndexField(path, uses) : throw new FormatException();
    }

    private static string NameOf(AutoIndexField field)
    {
        string name = string.Join('_', field.Path.Select(static step => step.Length > 0 ? char.ToUpperInvariant(step[0]) + step[1..] : step));
        return field.Uses switch
        {
            AutoIndexFieldUses.Exact => $"Exact({name})",
            AutoIndexFieldUses.Search => $"Search({name})",
            AutoIndexFieldUses.None => name,
            _ => $"Exact(Search({name}))",
        };
    }
}

/// <summary>A definition of an index cannot be carried out.</summary>
/// <param name="message">What is wrong, in a sentence.</param>
/// <param name="isNotSupported">Whether it makes sense, and only this program does not carry it out.</param>
public sealed class IndexDefinitionException(string message, bool isNotSupported = false) : Exception(message)
{
    /// <summary>Whether it makes sense, and only this program does not carry it out: 501.</summary>
    public bool IsNotSupported => isNotSupported;
}
