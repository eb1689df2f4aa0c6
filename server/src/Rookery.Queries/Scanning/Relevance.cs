using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>Says whether results are ordered by relevance.</summary>
internal static class Relevance
{
    /// <summary>
    /// The order of a query: as it is written; without one, the most relevant first where words are searched for.
    /// </summary>
    public static IReadOnlyList<OrderKey> OrderOf(Query query) =>
        query.OrderBy.Count == 0 && query.GroupBy.Count == 0 && IsIn(query.Where)
            ? [new OrderKey(null, OrderKind.Score, IsDescending: true, null, 0)]
            : query.OrderBy;

    /// <summary>Whether a condition makes some documents more relevant than others.</summary>
    public static bool IsIn(Condition? condition) =>
        condition switch
        {
            SearchCondition
            or LuceneCondition
            or ProximityCondition
            or FuzzyCondition
            or BoostCondition
            or MoreLikeThisCondition => true,
            AndCondition and => and.Conditions.Any(IsIn),
            OrCondition or => or.Conditions.Any(IsIn),
            IntersectCondition intersect => intersect.Conditions.Any(IsIn),
            ExactCondition exact => IsIn(exact.Inner),
            _ => false,
        };

    /// <summary>
    /// Whether a condition compares with a given document: its words are chosen by how many documents have them,
    /// whether results are scored or not.
    /// </summary>
    public static bool HasLikeness(Condition? condition) =>
        condition switch
        {
            MoreLikeThisCondition => true,
            AndCondition and => and.Conditions.Any(HasLikeness),
            OrCondition or => or.Conditions.Any(HasLikeness),
            IntersectCondition intersect => intersect.Conditions.Any(HasLikeness),
            NotCondition not => HasLikeness(not.Inner),
            ExactCondition exact => HasLikeness(exact.Inner),
            BoostCondition boost => HasLikeness(boost.Inner),
            _ => false,
        };
}
