using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Planning;

/// <summary>
/// Names the automatic index that RavenDB would create for a query: <c>Auto/Users/ByNameAndAge</c>, or for groups
/// <c>Auto/Orders/ByCountReducedByCompany</c>.
/// </summary>
internal static class AutomaticIndexName
{
    // A query may have thousands of fields. The name is for display, so it contains only the first of them.
    private const int MostFields = 8;

    /// <summary>Returns the name for a query.</summary>
    public static string Of(Query query)
    {
        if (query.Source.Kind == SourceKind.Index)
        {
            return query.Source.Name;
        }

        var fields = new List<string>();
        AddOf(query.Where, fields);
        foreach (var order in query.OrderBy)
        {
            Add(order.Field, fields);
        }

        string collection = query.Source.Kind == SourceKind.AllDocuments ? "AllDocs" : query.Source.Name;
        if (query.GroupBy.Count > 0)
        {
            AddAggregates(query.Select as FieldSelection, fields);
            string[] keys = [.. query.GroupBy.Select(static key => Name(key.Path))];
            fields.RemoveAll(keys.Contains);
            return $"Auto/{collection}/{(fields.Count > 0 ? "By" + Join(fields) : "")}ReducedBy{Join(keys)}";
        }

        return fields.Count > 0 ? $"Auto/{collection}/By{Join(fields)}"
            : query.Source.Kind == SourceKind.AllDocuments ? collection
            : "collection/" + collection;
    }

    private static string Join(IEnumerable<string> names) =>
        string.Join("And", names.Distinct(StringComparer.Ordinal).Take(MostFields));

    private static void AddAggregates(FieldSelection? selection, List<string> fields)
    {
        foreach (var item in selection?.Items ?? [])
        {
            Add((item.Source as SelectedReference)?.Field, fields);
        }
    }

    private static void Add(FieldReference? field, List<string> fields)
    {
        switch (field)
        {
            case PathReference path:
                fields.Add(Name(path.Path));
                break;
            case AggregateReference aggregate:
                fields.Add(aggregate.Path is { } of ? Name(of) : "Count");
                break;
        }
    }

    private static void AddOf(Condition? condition, List<string> fields)
    {
        switch (condition)
        {
            case AndCondition and:
                AddEach(and.Conditions, fields);
                break;
            case OrCondition or:
                AddEach(or.Conditions, fields);
                break;
            case IntersectCondition intersect:
                AddEach(intersect.Conditions, fields);
                break;
            case NotCondition not:
                AddOf(not.Inner, fields);
                break;
            case ExactCondition { Inner: LuceneCondition lucene }:
                AddWrapped("Exact", new ExistsCondition(lucene.Field, lucene.Position), fields);
                break;
            case ExactCondition exact:
                AddWrapped("Exact", exact.Inner, fields);
                break;
            case BoostCondition boost:
                AddOf(boost.Inner, fields);
                break;
            case FuzzyCondition fuzzy:
                AddOf(fuzzy.Inner, fields);
                break;
            case ProximityCondition proximity:
                AddOf(proximity.Inner, fields);
                break;
            case LuceneCondition lucene:
                AddWrapped("Search", new ExistsCondition(lucene.Field, lucene.Position), fields);
                break;
            case SearchCondition search:
                AddWrapped("Search", new ExistsCondition(search.Field, search.Position), fields);
                break;
            case ComparisonCondition comparison:
                Add(comparison.Field, fields);
                break;
            case BetweenCondition between:
                Add(between.Field, fields);
                break;
            case InCondition isIn:
                Add(isIn.Field, fields);
                break;
            case ExistsCondition exists:
                Add(exists.Field, fields);
                break;
            case TextCondition text:
                Add(text.Field, fields);
                break;
        }
    }

    private static void AddEach(IReadOnlyList<Condition> conditions, List<string> fields)
    {
        foreach (var condition in conditions)
        {
            AddOf(condition, fields);
        }
    }

    private static void AddWrapped(string how, Condition inner, List<string> fields)
    {
        var names = new List<string>();
        AddOf(inner, names);
        fields.AddRange(names.Select(name => $"{how}({name})"));
    }

    private static string Name(FieldPath path) =>
        string.Join('_', path.Steps.Select(static step => char.ToUpperInvariant(step.Name[0]) + step.Name[1..]));
}
