using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Planning;

/// <summary>
/// Names the automatic index that RavenDB would create for a query: <c>Auto/Users/BynameAndage</c>, or for groups
/// <c>Auto/Orders/ByCountReducedBycompany</c>.
/// </summary>
internal static class AutomaticIndexName
{
    // A query may have thousands of fields. The name is for display, so it contains only the first of them.
    private const int MaxFields = 8;

    /// <summary>Returns the name for a query.</summary>
    public static string Of(Query query)
    {
        if (query.Source.Kind == SourceKind.Index)
        {
            return query.Source.Name;
        }

        var fields = new List<string>();
        AddFieldsOf(query.Where, fields);
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
            string byFields = fields.Count > 0 ? "By" + Join(fields) : "";
            return $"Auto/{collection}/{byFields}ReducedBy{Join(keys)}";
        }
        if (fields.Count > 0)
        {
            return $"Auto/{collection}/By{Join(fields)}";
        }
        return query.Source.Kind == SourceKind.AllDocuments ? collection : "collection/" + collection;
    }

    private static string Join(IEnumerable<string> names) =>
        string.Join("And", names.Distinct(StringComparer.Ordinal).Take(MaxFields));

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
            case PathReference reference:
                fields.Add(Name(reference.Path));
                break;
            case AggregateReference aggregate:
                fields.Add(aggregate.Path is { } path ? Name(path) : "Count");
                break;
        }
    }

    private static void AddFieldsOf(Condition? condition, List<string> fields)
    {
        switch (condition)
        {
            case AndCondition and:
                AddFieldsOfEach(and.Conditions, fields);
                break;
            case OrCondition or:
                AddFieldsOfEach(or.Conditions, fields);
                break;
            case IntersectCondition intersect:
                AddFieldsOfEach(intersect.Conditions, fields);
                break;
            case NotCondition not:
                AddFieldsOf(not.Inner, fields);
                break;
            case ExactCondition { Inner: LuceneCondition lucene }:
                AddInParentheses("Exact", new ExistsCondition(lucene.Field, lucene.Position), fields);
                break;
            case ExactCondition exact:
                AddInParentheses("Exact", exact.Inner, fields);
                break;
            case BoostCondition boost:
                AddFieldsOf(boost.Inner, fields);
                break;
            case FuzzyCondition fuzzy:
                AddFieldsOf(fuzzy.Inner, fields);
                break;
            case ProximityCondition proximity:
                AddFieldsOf(proximity.Inner, fields);
                break;
            case LuceneCondition lucene:
                AddInParentheses("Search", new ExistsCondition(lucene.Field, lucene.Position), fields);
                break;
            case SearchCondition search:
                AddInParentheses("Search", new ExistsCondition(search.Field, search.Position), fields);
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

    private static void AddFieldsOfEach(IReadOnlyList<Condition> conditions, List<string> fields)
    {
        foreach (var condition in conditions)
        {
            AddFieldsOf(condition, fields);
        }
    }

    private static void AddInParentheses(string function, Condition inner, List<string> fields)
    {
        var names = new List<string>();
        AddFieldsOf(inner, names);
        fields.AddRange(names.Select(name => $"{function}({name})"));
    }

    private static string Name(FieldPath path) => string.Join('_', path.Steps.Select(static step => step.Name));
}
