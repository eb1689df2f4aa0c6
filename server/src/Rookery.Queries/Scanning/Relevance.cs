using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>Decides whether results are scored and ordered by score.</summary>
internal static class Relevance
{
    /// <summary>
    /// Returns the order of a query. A full-text query without <c>order by</c> is ordered by descending score.
    /// </summary>
    public static IReadOnlyList<OrderKey> OrderOf(Query query) =>
        query.OrderBy.Count == 0 && query.GroupBy.Count == 0 && HasScores(query.Where)
            ? [new OrderKey(Field: null, OrderKind.Score, IsDescending: true, Seed: null, Position: 0)]
            : query.OrderBy;

    /// <summary>Returns whether a condition can give documents different scores.</summary>
    public static bool HasScores(Condition? condition) =>
        condition switch
        {
            SearchCondition
            or LuceneCondition
            or ProximityCondition
            or FuzzyCondition
            or BoostCondition
            or MoreLikeThisCondition => true,
            AndCondition and => and.Conditions.Any(HasScores),
            OrCondition or => or.Conditions.Any(HasScores),
            IntersectCondition intersect => intersect.Conditions.Any(HasScores),
            ExactCondition exact => HasScores(exact.Inner),
            _ => false,
        };

    /// <summary>
    /// Returns whether a condition contains <c>moreLikeThis</c>, which needs word statistics even if results are not
    /// scored.
    /// </summary>
    public static bool HasMoreLikeThis(Condition? condition) =>
        condition switch
        {
            MoreLikeThisCondition => true,
            AndCondition and => and.Conditions.Any(HasMoreLikeThis),
            OrCondition or => or.Conditions.Any(HasMoreLikeThis),
            IntersectCondition intersect => intersect.Conditions.Any(HasMoreLikeThis),
            NotCondition not => HasMoreLikeThis(not.Inner),
            ExactCondition exact => HasMoreLikeThis(exact.Inner),
            BoostCondition boost => HasMoreLikeThis(boost.Inner),
            _ => false,
        };
}
