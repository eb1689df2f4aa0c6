using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Endpoint metadata: what a route reads of the query string and of the headers that make a request conditional.
/// Whatever else stands there is refused by name: an option that is taken and
/// not carried out is a wrong answer that nobody sees.
/// </summary>
/// <param name="obeyed">The parameters that the route carries out, or refuses itself; a star behind a name that may
/// stand there several times.</param>
internal sealed class RouteParameters(params string[] obeyed)
{
    // What every client may send to every route, and why it changes nothing.
    private static readonly Dictionary<string, string> Anywhere = new(StringComparer.OrdinalIgnoreCase)
    {
        ["nodeTag"] = "names the node to which the client sends the request",
        ["raft-request-id"] = "is new at each repetition; where it is not, it makes a repetition apply once",
    };

    private readonly (string Name, bool IsList)[] _obeyed =
    [
        .. obeyed.Select(static name => (name.TrimEnd('*'), name.EndsWith('*'))),
    ];

    /// <summary>A route that reads none.</summary>
    public static RouteParameters None { get; } = new();

    /// <summary>A route that refuses whatever it is asked.</summary>
    public static RouteParameters Any { get; } = new() { TakesAll = true };

    /// <summary>The names that are carried out, or refused by the route itself.</summary>
    public IEnumerable<string> Obeyed => _obeyed.Select(static known => known.Name);

    /// <summary>The names that are passed over, each with the reason why that changes nothing.</summary>
    public IReadOnlyDictionary<string, string> PassedOver { get; init; } =
        new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>Those that are passed over by every route.</summary>
    public static IReadOnlyDictionary<string, string> PassedOverAnywhere => Anywhere;

    /// <summary>Whether a name without a value is only a note of why the client asks.</summary>
    public bool TakesNotes { get; init; }

    /// <summary>Whether If-Match is carried out.</summary>
    public bool TakesIfMatch { get; init; }

    /// <summary>Whether an Idempotency-Key is carried out, or refused by the route itself.</summary>
    public bool TakesKey { get; init; }

    private bool TakesAll { get; init; }

    /// <summary>Refuses what is not carried out.</summary>
    /// <param name="http">The request.</param>
    /// <param name="isWrite">Whether the route changes something.</param>
    /// <exception cref="RefusedException">The request asks for something that would be passed over.</exception>
    public void Check(HttpContext http, bool isWrite)
    {
        if (!TakesAll)
        {
            CheckNames(http);
            CheckHeaders(http, isWrite);
        }
    }

    private void CheckNames(HttpContext http)
    {
        ulong seen = 0;
        foreach (var parameter in new QueryParameters(http))
        {
            int known = IndexOf(parameter);
            if (known < 0)
            {
                if (!IsPassedOver(parameter))
                {
                    throw Unknown(http, parameter.Name.ToString());
                }
            }
            else if (!_obeyed[known].IsList && (seen & (1UL << known)) != 0)
            {
                throw RefusedException.BadRequest(
                    $"The parameter '{_obeyed[known].Name}' stands twice in the query string, and one of the "
                        + $"two would be passed over. Send it once."
                );
            }
            else
            {
                seen |= 1UL << known;
            }
        }
    }

    private int IndexOf(QueryParameters.Parameter parameter)
    {
        for (int i = 0; i < _obeyed.Length; i++)
        {
            if (parameter.Is(_obeyed[i].Name))
            {
                return i;
            }
        }

        return -1;
    }

    private bool IsPassedOver(QueryParameters.Parameter parameter)
    {
        if (TakesNotes && !parameter.HasValue)
        {
            return true;
        }

        string name = parameter.Name.ToString();
        return Anywhere.ContainsKey(name) || PassedOver.Keys.Contains(name, StringComparer.OrdinalIgnoreCase);
    }

    private void CheckHeaders(HttpContext http, bool isWrite)
    {
        var headers = http.Request.Headers;
        if (!TakesIfMatch && headers.IfMatch.Count > 0)
        {
            throw NotCarriedOut(http, "If-Match");
        }

        if (!isWrite)
        {
            return;
        }

        // A write that was to depend on them must not be done without.
        string? condition =
            headers.IfNoneMatch.Count > 0 ? "If-None-Match"
            : headers.IfUnmodifiedSince.Count > 0 ? "If-Unmodified-Since"
            : headers.IfModifiedSince.Count > 0 ? "If-Modified-Since"
            : headers.ContentRange.Count > 0 ? "Content-Range"
            : null;
        if (condition is not null)
        {
            throw NotCarriedOut(http, condition);
        }

        if (!TakesKey)
        {
            IdempotencyHeader.Refuse(http, http.Request.Path, "this route does not remember what was done under it");
        }
    }

    private RefusedException Unknown(HttpContext http, string name) =>
        RefusedException.NotSupported(
            $"The parameter '{name}' of {http.Request.Method} {http.Request.Path} is not supported by this version. "
                + (_obeyed.Length == 0 ? "This route takes none." : $"It takes {string.Join(", ", Obeyed)}.")
        );

    private static RefusedException NotCarriedOut(HttpContext http, string header) =>
        RefusedException.NotSupported(
            $"The header {header} of {http.Request.Method} {http.Request.Path} is not supported by this "
                + $"version, and nothing was done; send the request without it."
        );
}

/// <summary>How routes say what they read.</summary>
internal static class RouteParametersExtensions
{
    /// <summary>Says what the route reads of the query string.</summary>
    public static TBuilder Taking<TBuilder>(this TBuilder route, RouteParameters parameters)
        where TBuilder : IEndpointConventionBuilder => route.WithMetadata(parameters);
}
