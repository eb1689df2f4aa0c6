using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>
/// <c>intersect</c> of a static index, as in RavenDB: a document matches if each condition matches some row of the
/// document.
/// </summary>
internal static class Intersection
{
    /// <summary>
    /// Returns the condition that finds the rows which satisfy some condition of <c>intersect</c>; null if the query
    /// has none.
    /// </summary>
    /// <param name="where">The condition of the query.</param>
    /// <exception cref="QueryException"><c>intersect</c> stands inside another condition.</exception>
    public static OrCondition? Across(Condition? where)
    {
        if (where is not IntersectCondition intersect)
        {
            Refuse(where);
            return null;
        }

        foreach (var condition in intersect.Conditions)
        {
            Refuse(condition);
        }

        return new OrCondition(intersect.Conditions, intersect.Position);
    }

    private static void Refuse(Condition? condition)
    {
        switch (condition)
        {
            case IntersectCondition intersect:
                throw new QueryException(
                    QueryFault.NotSupported,
                    "'intersect' inside another condition of a static index is not supported. Write all conditions "
                        + "into 'intersect'.",
                    intersect.Position
                );
            case AndCondition and:
                RefuseEach(and.Conditions);
                break;
            case OrCondition or:
                RefuseEach(or.Conditions);
                break;
            case NotCondition not:
                Refuse(not.Inner);
                break;
            case ExactCondition exact:
                Refuse(exact.Inner);
                break;
            case BoostCondition boost:
                Refuse(boost.Inner);
                break;
        }
    }

    private static void RefuseEach(IReadOnlyList<Condition> conditions)
    {
        foreach (var condition in conditions)
        {
            Refuse(condition);
        }
    }
}
