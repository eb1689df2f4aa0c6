using System.Text.Json;
using Rookery.Documents.Ids;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// The definition of an automatic map/reduce index: it groups the documents of a collection, or the elements of an
/// array in them, by keys and computes aggregates of each group.
/// </summary>
public sealed class AutoReduceDefinition : IAutoDefinition<AutoReduceDefinition>
{
    internal const string TypeName = "AutoMapReduce";

    // Part of the stored format; independent of property names.
    private const string ArrayMember = "Array";
    private const string KeysMember = "Keys";
    private const string AggregatesMember = "Aggregates";
    private const string PathMember = "Path";

    private const string NameOfCount = "Count";

    /// <summary>Makes a definition.</summary>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="array">
    /// Member names of the path to the array whose elements are grouped; null to group documents.
    /// </param>
    /// <param name="keys">The keys of the groups; duplicates are dropped.</param>
    /// <param name="aggregates">The aggregates of each group; duplicates are dropped.</param>
    public AutoReduceDefinition(
        string? collection,
        IReadOnlyList<string>? array,
        IEnumerable<AutoReduceKey> keys,
        IEnumerable<AutoReduceAggregate> aggregates
    )
    {
        (Collection, Array) = (collection, array);
        Keys =
        [
            .. keys.Distinct()
                .OrderBy(static key => key.Name, StringComparer.Ordinal)
                .ThenBy(static key => key.IsOfElement),
        ];
        Aggregates = [.. aggregates.Distinct().OrderBy(static aggregate => aggregate.Name, StringComparer.Ordinal)];
    }

    /// <summary>The collection; null for all documents.</summary>
    public string? Collection { get; }

    /// <summary>Member names of the path to the array whose elements are grouped; null to group documents.</summary>
    public IReadOnlyList<string>? Array { get; }

    /// <summary>The keys, ordered by name. The index sorts its groups by these keys, in this order.</summary>
    public IReadOnlyList<AutoReduceKey> Keys { get; }

    /// <summary>The aggregates, ordered by name.</summary>
    public IReadOnlyList<AutoReduceAggregate> Aggregates { get; }

    /// <summary>The name of the index, such as <c>Auto/Orders/ByCountAndtotalReducedBycompany</c>.</summary>
    public string Name
    {
        get
        {
            string fields =
                Aggregates.Count == 0
                    ? ""
                    : $"By{string.Join("And", Aggregates.Select(NameOf).Order(StringComparer.Ordinal))}";
            return AutoDefinitionText.NameOf(
                this,
                Collection,
                $"{fields}ReducedBy{string.Join("And", Keys.Select(NameOf))}"
            );
        }
    }

    /// <summary>Returns whether an index of this definition answers the queries of <paramref name="other"/>.</summary>
    public bool Covers(AutoReduceDefinition other) => HasGroupsOf(other) && other.Aggregates.All(Aggregates.Contains);

    /// <summary>Returns whether both definitions have the same groups and aggregates.</summary>
    public bool HasContentOf(AutoReduceDefinition other) => Covers(other) && other.Covers(this);

    /// <summary>Returns whether both definitions cover the same collection.</summary>
    public bool HasCollectionOf(AutoReduceDefinition other) =>
        IgnoredCase.OfCollections.Equals(Collection, other.Collection);

    /// <summary>Returns whether both definitions group the same items by the same keys.</summary>
    public bool HasGroupsOf(AutoReduceDefinition other) =>
        HasCollectionOf(other) && HasArrayOf(other) && Keys.SequenceEqual(other.Keys);

    /// <summary>Returns a definition that covers both. They must have the same groups.</summary>
    public AutoReduceDefinition MergedWith(AutoReduceDefinition other) =>
        new(Collection, Array, Keys, Aggregates.Concat(other.Aggregates));

    /// <inheritdoc/>
    public byte[] ToJson() => AutoDefinitionText.Write(TypeName, Collection, WriteMembers);

    /// <summary>Reads a definition; null when it is of another kind.</summary>
    /// <exception cref="IndexDefinitionException">The definition is malformed or of a newer version.</exception>
    public static AutoReduceDefinition? TryRead(ReadOnlyMemory<byte> definition) =>
        AutoDefinitionText.TryRead(definition, TypeName, ReadMembers);

    /// <summary>Returns the definition of an index that answers a grouped query.</summary>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="groups">The groups and aggregates of the query.</param>
    public static AutoReduceDefinition Of(string? collection, GroupPlan groups) =>
        new(
            collection,
            groups.Array?.Names,
            groups.Keys.Select(key => new AutoReduceKey(groups.PathOf(key), key.IsOfElement)),
            groups.Aggregates.Select(aggregate => AggregateOf(groups, aggregate))
        );

    /// <summary>Returns the plan by which the index groups the entries of a document.</summary>
    internal GroupPlan ToPlan()
    {
        string[]? array = Array is { } steps ? [.. steps] : null;
        return new GroupPlan(
            array is null ? null : new FieldReader(array),
            [.. Keys.Select(key => GroupedField.Of(ToPath(key.Path), key.IsOfElement ? array : null))],
            [.. Keys.Select(static key => key.Name)],
            needsWholeKey: false,
            [
                .. Aggregates.Select(aggregate =>
                    (aggregate.Kind, aggregate.Path.Count == 0 ? null : GroupedField.Of(ToPath(aggregate.Path), array))
                ),
            ]
        );
    }

    /// <summary>Converts an aggregate of a query to that of an index definition.</summary>
    public static AutoReduceAggregate AggregateOf(
        GroupPlan groups,
        (AggregateKind Kind, GroupedField? Field) aggregate
    ) => new(aggregate.Kind, aggregate.Field is { } field ? groups.PathOf(field) : []);

    private static FieldPath ToPath(IReadOnlyList<string> names) =>
        new([.. names.Select(static name => new PathStep(name, IsEach: false))], Position: 0);

    private static AutoReduceDefinition ReadMembers(string? collection, JsonElement json)
    {
        var read = new AutoReduceDefinition(
            collection,
            json.TryGetProperty(ArrayMember, out var array) ? AutoDefinitionText.ReadPath(array) : null,
            json.GetProperty(KeysMember)
                .EnumerateArray()
                .Select(static key => new AutoReduceKey(
                    AutoDefinitionText.ReadPath(key.GetProperty(PathMember)),
                    key.GetProperty("OfElement").GetBoolean()
                )),
            json.GetProperty(AggregatesMember)
                .EnumerateArray()
                .Select(static aggregate => new AutoReduceAggregate(
                    KindOf(aggregate.GetProperty("Kind").GetString()),
                    AutoDefinitionText.ReadPath(aggregate.GetProperty(PathMember))
                ))
        );
        return read.IsComplete ? read : throw new FormatException();
    }

    private void WriteMembers(Utf8JsonWriter json)
    {
        if (Array is not null)
        {
            AutoDefinitionText.WritePath(json, ArrayMember, Array);
        }

        json.WriteStartArray(KeysMember);
        foreach (var key in Keys)
        {
            json.WriteStartObject();
            AutoDefinitionText.WritePath(json, PathMember, key.Path);
            json.WriteBoolean("OfElement", key.IsOfElement);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteStartArray(AggregatesMember);
        foreach (var aggregate in Aggregates)
        {
            json.WriteStartObject();
            json.WriteString("Kind", KindOf(aggregate.Kind));
            AutoDefinitionText.WritePath(json, PathMember, aggregate.Path);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private bool IsComplete =>
        Keys.Count > 0
        && Array is not { Count: 0 }
        && Keys.All(key =>
            key.Path.Count > 0
            && (
                !key.IsOfElement
                || (Array is not null && key.Path.Take(Array.Count).SequenceEqual(Array, StringComparer.Ordinal))
            )
        )
        && Aggregates.All(static aggregate => aggregate.Path.Count > 0 == (aggregate.Kind != AggregateKind.Count));

    private bool HasArrayOf(AutoReduceDefinition other) =>
        Array is null
            ? other.Array is null
            : other.Array is not null && Array.SequenceEqual(other.Array, StringComparer.Ordinal);

    private static string KindOf(AggregateKind kind) =>
        kind switch
        {
            AggregateKind.Count => "Count",
            AggregateKind.Sum => "Sum",
            AggregateKind.Min => "Min",
            AggregateKind.Max => "Max",
            _ => "Average",
        };

    private static AggregateKind KindOf(string? name) =>
        name switch
        {
            "Count" => AggregateKind.Count,
            "Sum" => AggregateKind.Sum,
            "Min" => AggregateKind.Min,
            "Max" => AggregateKind.Max,
            "Average" => AggregateKind.Average,
            _ => throw new FormatException(),
        };

    // A sum is named by its field alone, as in RavenDB, whose automatic indexes compute only counts and sums. Names of
    // indexes are compared without case, so the sum of a field 'count' is named by its function, too.
    private static string NameOf(AutoReduceAggregate aggregate)
    {
        string name = AutoDefinitionText.NameOf(aggregate.Path);
        return aggregate.Kind switch
        {
            AggregateKind.Count => NameOfCount,
            AggregateKind.Sum when !string.Equals(name, NameOfCount, StringComparison.OrdinalIgnoreCase) => name,
            _ => $"{KindOf(aggregate.Kind)}({name})",
        };
    }

    private string NameOf(AutoReduceKey key)
    {
        if (!key.IsOfElement)
        {
            return AutoDefinitionText.NameOf(key.Path);
        }

        string array = AutoDefinitionText.NameOf(key.Path.Take(Array!.Count)) + "[]";
        return key.Path.Count == Array.Count
            ? array
            : $"{array}_{AutoDefinitionText.NameOf(key.Path.Skip(Array.Count))}";
    }
}
