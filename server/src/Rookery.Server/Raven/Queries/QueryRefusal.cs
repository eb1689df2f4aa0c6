using Rookery.Queries.Language;

namespace Rookery.Server.Raven.Queries;

/// <summary>Turns the refusal of a query into that of its request, with the place in its text.</summary>
internal static class QueryRefusal
{
    /// <summary>What to answer: 501 for what this version does not have, 400 for everything else.</summary>
    public static RefusedException Of(QueryException error, string query)
    {
        string text = QueryErrorText.Of(error, query);
        return error.Fault == QueryFault.NotSupported
            ? RefusedException.NotSupported(text)
            : RefusedException.InvalidQuery(text);
    }
}
