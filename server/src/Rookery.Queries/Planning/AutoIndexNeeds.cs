using Rookery.Indexing.Automatic;
using Rookery.Queries.Language;

namespace Rookery.Queries.Planning;

/// <summary>
/// Determines the automatic index that a query needs: the fields of its conditions and its order, and how each is
/// searched.
/// </summary>
internal sealed class AutoIndexNeeds
{
    private readonly List<AutoIndexField> _fields = [];

    private AutoIndexNeeds() { }

    /// <summary>Returns the definition of an automatic index that would answer a query; null if none could.</summary>
    /// <param name="query">The query.</param>
    /// <param name="why">The reason if null is returned; otherwise null.</param>
    public static AutoIndexDefinition? Of(Query query, out string? why)
    {
        why = query switch
        {
            { Source.Kind: SourceKind.Index } => "the query names its index",
            { GroupBy.Count: > 0 } => "the query groups documents",
            _ => null,
        };
        if (why is not null)
        {
            return null;
        }

        var needs = new AutoIndexNeeds();
        if (query.Where is not null)
        {
            needs.Add(query.Where, AutoIndexFieldUses.None);
        }

        foreach (var order in query.OrderBy)
        {
            needs.Add(order.Field, AutoIndexFieldUses.None);
        }

        if (needs._fields.Count == 0)
        {
            why = "the query has neither conditions on fields nor an order by them";
            return null;
        }

        return new AutoIndexDefinition(
            query.Source.Kind == SourceKind.Collection ? query.Source.Name : null,
            needs._fields
        );
    }

    private void Add(Condition condition, AutoIndexFieldUses uses)
    {
        switch (condition)
        {
            case AndCondition and:
                AddAll(and.Conditions, uses);
                break;
            case OrCondition or:
                AddAll(or.Conditions, uses);
                break;
            case IntersectCondition intersect:
                AddAll(intersect.Conditions, uses);
                break;
            case NotCondition not:
                Add(not.Inner, uses);
                break;
            case BoostCondition boost:
                Add(boost.Inner, uses);
                break;
            case ExactCondition exact:
                Add(exact.Inner, uses | AutoIndexFieldUses.Exact);
                break;
            case ComparisonCondition comparison:
                Add(comparison.Field, uses);
                break;
            case BetweenCondition between:
                Add(between.Field, uses);
                break;
            case InCondition isIn:
                Add(isIn.Field, uses);
                break;
            case ExistsCondition exists:
                Add(exists.Field, AutoIndexFieldUses.None);
                break;
            case TextCondition text:
                Add(text.Field, uses);
                break;
            case LuceneCondition lucene:
                Add(lucene.Field, uses == AutoIndexFieldUses.None ? AutoIndexFieldUses.Search : uses);
                break;
            case SearchCondition search:
                Add(search.Field, AutoIndexFieldUses.Search);
                break;
            case FuzzyCondition fuzzy:
                Add(fuzzy.Inner.Field, uses);
                break;
            case ProximityCondition proximity:
                Add(proximity.Inner.Field, AutoIndexFieldUses.Search);
                break;
            default:
                break; // the condition has no field
        }
    }

    private void AddAll(IReadOnlyList<Condition> conditions, AutoIndexFieldUses uses)
    {
        foreach (var condition in conditions)
        {
            Add(condition, uses);
        }
    }

    private void Add(FieldReference? reference, AutoIndexFieldUses uses)
    {
        if (reference is not PathReference { Path: var path })
        {
            return;
        }

        var field = new AutoIndexField([.. path.Steps.Select(static step => step.Name)], uses);
        int same = _fields.FindIndex(field.HasPathOf);
        if (same < 0)
        {
            _fields.Add(field);
        }
        else
        {
            _fields[same] = _fields[same] with { Uses = _fields[same].Uses | uses };
        }
    }
}
