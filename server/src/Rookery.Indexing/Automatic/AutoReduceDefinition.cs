using System.Text.Json;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// A map/reduce index that a query made: the documents of a collection, or the elements of an array in them, put
/// together by keys, with aggregates of each group.
/// </summary>
public sealed class AutoReduceDefinition : IAutoDefinition
{
    internal const string TypeName = "AutoMapReduce";

    // Part of the format, whatever the properties are called.
    private const string ArrayMember = "Array";
    private const string KeysMember = "Keys";
    private const string AggregatesMember = "Aggregates";
    private const string PathMember = "Path";

    private const string NameOfCount = "Count";

    /// <summary>An automatic map/reduce index.</summary>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="array">Names of members to the array whose elements are entries; null where documents are.</param>
    /// <param name="keys">Its keys; one that is named twice is one.</param>
    /// <param name="aggregates">What it computes; what is named twice is computed once.</param>
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

    /// <summary>Names of members to the array whose elements are entries; null where documents are.</summary>
    public IReadOnlyList<string>? Array { get; }

    /// <summary>Its keys, ordered by name. Groups stand in the order of these.</summary>
    public IReadOnlyList<AutoReduceKey> Keys { get; }

    /// <summary>What it computes, ordered by name.</summary>
    public IReadOnlyList<AutoReduceAggregate> Aggregates { get; }

    /// <summary>What it is called: <c>Auto/Orders/ByCountAndTotalReducedByCompany</c>.</summary>
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

    /// <summary>Whether what was built by this definition answers what <paramref name="other"/> is for.</summary>
    public bool Covers(AutoReduceDefinition other) => HasGroupsOf(other) && other.Aggregates.All(Aggregates.Contains);

    /// <summary>Whether both are of the same documents.</summary>
    public bool HasCollectionOf(AutoReduceDefinition other) =>
        string.Equals(Collection, other.Collection, StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether both put the same documents together by the same keys.</summary>
    public bool HasGroupsOf(AutoReduceDefinition other) =>
        HasCollectionOf(other) && HasArrayOf(other) && Keys.SequenceEqual(other.Keys);

    /// <summary>A definition that covers both, which have the same groups.</summary>
    public AutoReduceDefinition MergedWith(AutoReduceDefinition other) =>
        new(Collection, Array, Keys, Aggregates.Concat(other.Aggregates));

    /// <inheritdoc/>
    public byte[] ToJson() => AutoDefinitionText.Write(TypeName, Collection, WriteMembers);

    /// <summary>Reads the definition of an index; null when it is of another kind.</summary>
    /// <exception cref="IndexDefinitionException">It says nothing that this program understands.</exception>
    public static AutoReduceDefinition? TryRead(ReadOnlyMemory<byte> definition) =>
        AutoDefinitionText.TryRead(definition, TypeName, ReadMembers);

    /// <summary>What an index holds that answers a grouped query.</summary>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="groups">What the query computes.</param>
    public static AutoReduceDefinition Of(string? collection, GroupPlan groups) =>
        new(
            collection,
            groups.Array?.Names,
            groups.Keys.Select(key => new AutoReduceKey(groups.PathOf(key), key.IsOfElement)),
            groups.Aggregates.Select(aggregate => AggregateOf(groups, aggregate))
        );

    /// <summary>What an index computes of the groups that it holds.</summary>
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

    /// <summary>An aggregate of a query as an index holds it.</summary>
    public static AutoReduceAggregate AggregateOf(
        GroupPlan groups,
        (AggregateKind Kind, GroupedField? Field) aggregate
    ) => new(aggregate.Kind, aggregate.Field is { } field ? groups.PathOf(field) : []);

    private static FieldPath ToPath(IReadOnlyList<string> names) =>
        new([.. names.Select(static name => new PathStep(name, false))], 0);

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
                .Select(static one => new AutoReduceAggregate(
                    KindOf(one.GetProperty("Kind").GetString()),
                    AutoDefinitionText.ReadPath(one.GetProperty(PathMember))
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

    // RavenDB has counts and sums only, and calls a sum as its field.
    private static string NameOf(AutoReduceAggregate aggregate)
    {
        string name = AutoDefinitionText.NameOf(aggregate.Path);
        return aggregate.Kind switch
        {
            AggregateKind.Count => NameOfCount,
            AggregateKind.Sum when !string.Equals(name, NameOfCount, StringComparison.Ordinal) => name,
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
