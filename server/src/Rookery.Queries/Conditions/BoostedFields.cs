using System.Globalization;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Multiplies the scores of conditions on fields that the maps of a static index boost. As for <c>boost(…)</c> in the
/// query, results without <c>order by</c> are then ordered by score.
/// </summary>
internal static class BoostedFields
{
    /// <summary>Returns a condition whose conditions on boosted fields are within <c>boost</c>.</summary>
    /// <param name="condition">The condition; null for none.</param>
    /// <param name="rows">The rows of the index.</param>
    public static Condition? Apply(Condition? condition, RowSource rows) =>
        condition is null ? null : ApplyTo(condition, rows);

    private static Condition ApplyTo(Condition condition, RowSource rows) =>
        condition switch
        {
            AndCondition and => and with { Conditions = ApplyToEach(and.Conditions, rows) },
            OrCondition or => or with { Conditions = ApplyToEach(or.Conditions, rows) },
            IntersectCondition intersect => intersect with { Conditions = ApplyToEach(intersect.Conditions, rows) },
            BoostCondition boost => boost with { Inner = ApplyTo(boost.Inner, rows) },
            ExactCondition exact => exact with { Inner = ApplyTo(exact.Inner, rows) },
            _ when FieldOf(condition) is { } field && FactorOf(field, rows) is { } factor => new BoostCondition(
                condition,
                new NumberOperand(factor.ToString("R", CultureInfo.InvariantCulture), condition.Position),
                condition.Position
            ),
            _ => condition,
        };

    private static Condition[] ApplyToEach(IReadOnlyList<Condition> conditions, RowSource rows) =>
        [.. conditions.Select(condition => ApplyTo(condition, rows))];

    private static double? FactorOf(FieldReference field, RowSource rows) =>
        field is PathReference && rows.Definition.Factors.TryGetValue(rows.NameOf(field), out double factor)
            ? factor
            : null;

    // Null for conditions that have no field or no score: negations score 0 wherever they match.
    private static FieldReference? FieldOf(Condition condition) =>
        condition switch
        {
            ComparisonCondition { Operator: not ComparisonOperator.NotEqual } comparison => comparison.Field,
            BetweenCondition between => between.Field,
            InCondition isIn => isIn.Field,
            ExistsCondition exists => exists.Field,
            TextCondition text => text.Field,
            LuceneCondition lucene => lucene.Field,
            SearchCondition search => search.Field,
            FuzzyCondition fuzzy => fuzzy.Inner.Field,
            ProximityCondition proximity => proximity.Inner.Field,
            _ => null,
        };
}
