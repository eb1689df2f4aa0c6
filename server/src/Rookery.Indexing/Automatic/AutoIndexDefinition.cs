using System.Text.Json;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// An index that a query made: the values of some fields of a collection. Its name follows from what it holds, so all
/// members that need the same one define the same one.
/// </summary>
public sealed record AutoIndexDefinition : IAutoDefinition
{
    /// <summary>What <see cref="Collection"/> is called where an index of all documents is shown.</summary>
    public const string AllDocuments = "@all_docs";

    internal const string TypeName = "AutoMap";

    // Part of the format, whatever the properties are called.
    private const string FieldsMember = "Fields";
    private const string PathMember = "Path";
    private const string UsesMember = "Uses";

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
    public string Name => AutoDefinitionText.NameOf(this, Collection, $"By{string.Join("And", Fields.Select(NameOf))}");

    /// <summary>Whether what was built by this definition answers what <paramref name="other"/> is for.</summary>
    public bool Covers(AutoIndexDefinition other) =>
        HasCollectionOf(other) && other.Fields.All(wanted => Fields.Any(field => field.Covers(wanted)));

    /// <summary>Whether both are of the same documents.</summary>
    public bool HasCollectionOf(AutoIndexDefinition other) =>
        string.Equals(Collection, other.Collection, StringComparison.OrdinalIgnoreCase);

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

    /// <inheritdoc/>
    public byte[] ToJson() =>
        AutoDefinitionText.Write(
            TypeName,
            Collection,
            json =>
            {
                json.WriteStartArray(FieldsMember);
                foreach (var field in Fields)
                {
                    json.WriteStartObject();
                    AutoDefinitionText.WritePath(json, PathMember, field.Path);
                    json.WriteNumber(UsesMember, (byte)field.Uses);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );

    /// <summary>Reads the definition of an index; null when it is of another kind.</summary>
    /// <exception cref="IndexDefinitionException">It says nothing that this program understands.</exception>
    public static AutoIndexDefinition? TryRead(ReadOnlyMemory<byte> definition) =>
        AutoDefinitionText.TryRead(
            definition,
            TypeName,
            static (collection, json) =>
                new AutoIndexDefinition(collection, json.GetProperty(FieldsMember).EnumerateArray().Select(ReadField))
        );

    private static AutoIndexField ReadField(JsonElement field)
    {
        string[] path = AutoDefinitionText.ReadPath(field.GetProperty(PathMember));
        var uses = (AutoIndexFieldUses)field.GetProperty(UsesMember).GetByte();
        return
            path.Length > 0
            && (uses & ~(AutoIndexFieldUses.Exact | AutoIndexFieldUses.Search)) == AutoIndexFieldUses.None
            ? new AutoIndexField(path, uses)
            : throw new FormatException();
    }

    private static string NameOf(AutoIndexField field)
    {
        string name = AutoDefinitionText.NameOf(field.Path);
        return field.Uses switch
        {
            AutoIndexFieldUses.Exact => $"Exact({name})",
            AutoIndexFieldUses.Search => $"Search({name})",
            AutoIndexFieldUses.None => name,
            _ => $"Exact(Search({name}))",
        };
    }
}
