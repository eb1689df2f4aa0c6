using System.Text.Json;
using Rookery.Documents.Ids;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// The definition of an automatic index without groups: a collection and the fields to index. The name is computed from
/// the content, so cluster members that need the same index define the same one.
/// </summary>
public sealed record AutoIndexDefinition : IAutoDefinition<AutoIndexDefinition>
{
    /// <summary>The name shown for <see cref="Collection"/> when an index covers all documents.</summary>
    public const string AllDocuments = "@all_docs";

    internal const string TypeName = "AutoMap";

    // Part of the stored format; independent of property names.
    private const string FieldsMember = "Fields";
    private const string PathMember = "Path";
    private const string UsesMember = "Uses";

    /// <summary>Makes a definition.</summary>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="fields">The fields of the index, each path once.</param>
    public AutoIndexDefinition(string? collection, IEnumerable<AutoIndexField> fields)
    {
        Collection = collection;
        Fields = [.. fields.OrderBy(static field => field.Name, StringComparer.Ordinal)];
    }

    /// <summary>The collection; null for all documents.</summary>
    public string? Collection { get; }

    /// <summary>The fields of the index, ordered by name.</summary>
    public IReadOnlyList<AutoIndexField> Fields { get; }

    /// <summary>The name of the index, such as <c>Auto/Users/ByageAndSearch(bio)</c>.</summary>
    public string Name => AutoDefinitionText.NameOf(this, Collection, $"By{string.Join("And", Fields.Select(NameOf))}");

    /// <summary>Returns whether an index of this definition answers the queries of <paramref name="other"/>.</summary>
    public bool Covers(AutoIndexDefinition other) =>
        HasCollectionOf(other) && other.Fields.All(wanted => Fields.Any(field => field.Covers(wanted)));

    /// <summary>Returns whether both definitions cover the same collection.</summary>
    public bool HasCollectionOf(AutoIndexDefinition other) =>
        IgnoredCase.OfCollections.Equals(Collection, other.Collection);

    /// <summary>Returns a definition that covers both.</summary>
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

    /// <summary>Reads a definition; null when it is of another kind.</summary>
    /// <exception cref="IndexDefinitionException">The definition is malformed or of a newer version.</exception>
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
