using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Rookery.Server.Raven;

/// <summary>
/// Endpoint metadata: the query parameters and conditional headers that a route takes. All others are refused by name:
/// an option that is accepted but ignored gives a wrong answer unnoticed.
/// </summary>
/// <param name="obeyed">Names of the parameters that the route's handler obeys, or refuses itself. A star after a name
/// allows it several times. At most 64 names.</param>
internal sealed class RouteParameters(params string[] obeyed)
{
    // Parameters that every client may send to every route, and why ignoring them is harmless.
    private static readonly Dictionary<string, string> Anywhere = new(StringComparer.OrdinalIgnoreCase)
    {
        ["nodeTag"] = "names the node to which the client sends the request",
        ["raft-request-id"] = "usually differs at each repetition; if it is the same, the repetition is applied once",
    };

    private readonly (string Name, bool IsList)[] _obeyed =
    [
        .. obeyed.Select(static name => (name.TrimEnd('*'), name.EndsWith('*'))),
    ];

    /// <summary>Names of those parameters that may appear only once.</summary>
    public IEnumerable<string> ObeyedOnce =>
        _obeyed.Where(static known => !known.IsList).Select(static known => known.Name);

    /// <summary>A route without parameters.</summary>
    public static RouteParameters None { get; } = new();

    /// <summary>
    /// A route whose answer no parameter changes: it refuses every request, or sends a file or all metrics. Links to
    /// files have parameters of their own ("?utm_source="), and scrapers send names of collectors.
    /// </summary>
    public static RouteParameters Any { get; } = new() { TakesAll = true };

    /// <summary>A route that reads no body, so that a request with one is refused.</summary>
    /// <param name="obeyed">As in the constructor.</param>
    public static RouteParameters WithoutBody(params string[] obeyed) => new(obeyed) { TakesNoBody = true };

    /// <summary>Names of the parameters that the route's handler obeys, or refuses itself.</summary>
    public IEnumerable<string> Obeyed => _obeyed.Select(static known => known.Name);

    /// <summary>Names of parameters that the route ignores, each with the reason why that is harmless.</summary>
    public IReadOnlyDictionary<string, string> Ignored { get; init; } =
        new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>Names of parameters that every route ignores, each with the reason.</summary>
    public static IReadOnlyDictionary<string, string> IgnoredAnywhere => Anywhere;

    /// <summary>
    /// Whether names without a value are ignored. Clients add such names as a note why they send a request.
    /// </summary>
    public bool TakesNotes { get; init; }

    /// <summary>Whether the route obeys If-Match.</summary>
    public bool TakesIfMatch { get; init; }

    /// <summary>Whether the route's handler obeys an Idempotency-Key, or refuses it itself.</summary>
    public bool TakesKey { get; init; }

    /// <summary>
    /// Whether a request that is no GET is refused if it has a body: what it asks for in the body would be ignored.
    /// </summary>
    public bool TakesNoBody { get; init; }

    private bool TakesAll { get; init; }

    /// <summary>Refuses parameters and headers that the route does not take.</summary>
    /// <param name="http">The request.</param>
    /// <param name="isWrite">Whether the route writes.</param>
    /// <exception cref="RefusedException">The request has a parameter or header that would be ignored: 501, or 400 for
    /// one that appears twice, and for a body that would be ignored.</exception>
    public void Check(HttpContext http, bool isWrite)
    {
        if (!TakesAll)
        {
            CheckNames(http);
            CheckHeaders(http, isWrite);
            CheckBody(http, isWrite);
        }
    }

    private void CheckNames(HttpContext http)
    {
        ulong seen = 0;
        List<string>? ignored = null;
        foreach (var parameter in new QueryParameters(http))
        {
            int known = IndexOf(parameter);
            if (known < 0)
            {
                string name = parameter.Name.ToString();
                if (!IsIgnored(parameter, name))
                {
                    throw Unknown(http, name);
                }

                ignored ??= [];
                if (ignored.Contains(name, StringComparer.OrdinalIgnoreCase))
                {
                    throw Twice(name);
                }

                ignored.Add(name);
            }
            else if (!_obeyed[known].IsList && (seen & (1UL << known)) != 0)
            {
                throw Twice(_obeyed[known].Name);
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

    private static RefusedException Twice(string name) =>
        RefusedException.BadRequest(
            $"The parameter '{name}' appears twice in the query string, but only one can be obeyed. Send it once."
        );

    private bool IsIgnored(QueryParameters.Parameter parameter, string name)
    {
        if (TakesNotes && !parameter.HasValue)
        {
            return true;
        }

        return Anywhere.ContainsKey(name) || Ignored.Keys.Contains(name, StringComparer.OrdinalIgnoreCase);
    }

    private void CheckHeaders(HttpContext http, bool isWrite)
    {
        var headers = http.Request.Headers;
        if (!TakesIfMatch && headers.IfMatch.Count > 0)
        {
            throw NotObeyed(http, "If-Match");
        }

        if (!isWrite)
        {
            return;
        }

        // A write that ignored these conditions could overwrite a version that its client wanted to keep.
        string? condition =
            headers.IfNoneMatch.Count > 0 ? "If-None-Match"
            : headers.IfUnmodifiedSince.Count > 0 ? "If-Unmodified-Since"
            : headers.IfModifiedSince.Count > 0 ? "If-Modified-Since"
            : headers.ContentRange.Count > 0 ? "Content-Range"
            : null;
        if (condition is not null)
        {
            throw NotObeyed(http, condition);
        }

        if (!TakesKey)
        {
            IdempotencyHeader.Refuse(http, http.Request.Path, "this route does not recognise repetitions");
        }
    }

    private void CheckBody(HttpContext http, bool isWrite)
    {
        if (TakesNoBody && isWrite && http.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: true })
        {
            throw RefusedException.BadRequest(
                $"{http.Request.Method} {http.Request.Path} reads no body, and nothing was done. "
                    + (
                        _obeyed.Length == 0
                            ? "Send it without a body."
                            : $"Send {string.Join(", ", Obeyed)} in the query string, without a body."
                    )
            );
        }
    }

    private RefusedException Unknown(HttpContext http, string name) =>
        RefusedException.NotSupported(
            $"The parameter '{name}' of {http.Request.Method} {http.Request.Path} is not supported by this version. "
                + (_obeyed.Length == 0 ? "This route takes none." : $"It takes {string.Join(", ", Obeyed)}.")
        );

    private static RefusedException NotObeyed(HttpContext http, string header) =>
        RefusedException.NotSupported(
            $"The header {header} of {http.Request.Method} {http.Request.Path} is not supported by this "
                + $"version, and nothing was done; send the request without it."
        );
}

/// <summary>Attaches <see cref="RouteParameters"/> to routes.</summary>
internal static class RouteParametersExtensions
{
    /// <summary>Declares the parameters that the route takes.</summary>
    public static TBuilder Taking<TBuilder>(this TBuilder route, RouteParameters parameters)
        where TBuilder : IEndpointConventionBuilder => route.WithMetadata(parameters);
}
