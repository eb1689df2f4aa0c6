using Microsoft.AspNetCore.Http;
using Rookery.Queries.Language;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Maps the error of a query to the error answer of its request, with the position in the query's text.
/// </summary>
internal static class QueryRefusal
{
    /// <summary>Returns the error answer; 400 unless the fault has another status.</summary>
    public static RefusedException Of(QueryException error, string query)
    {
        string text = QueryErrorText.Of(error, query);
        return error.Fault switch
        {
            QueryFault.NotSupported => RefusedException.NotSupported(text),
            QueryFault.IndexMissing => new RefusedException(
                StatusCodes.Status404NotFound,
                RavenType.IndexMissing,
                text
            ),
            QueryFault.IndexUnavailable => new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                RavenType.RavenException,
                text
            ),
            QueryFault.IndexBehind => new RefusedException(
                StatusCodes.Status500InternalServerError,
                RavenType.Timeout,
                text
            ),
            QueryFault.Rejected => RavenErrors.Refuse(error.Rejection!),
            _ => RefusedException.InvalidQuery(text),
        };
    }
}
