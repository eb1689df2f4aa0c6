using System.Globalization;
using System.Text.Json;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;

namespace Rookery.Server.Raven.Queries;

/// <summary>Parses the bodies of queries.</summary>
internal static class QueryBodyJson
{
    // Members that change no answer. DisableCaching is about the client's cache, SkipStatistics allows the server to
    // skip work, and PageSizeSet only tells that PageSize was set.
    private static readonly string[] IgnoredMembers = ["DisableCaching", "SkipStatistics", "PageSizeSet"];

    private static readonly string[] KnownMembers =
    [
        "Query",
        "QueryParameters",
        "Start",
        "PageSize",
        "WaitForNonStaleResults",
        "WaitForNonStaleResultsTimeout",
        "IncludeTimings",
        "ProjectionBehavior",
        "SkipDuplicateChecking",
        .. IgnoredMembers,
    ];

    private static readonly byte[] NoParameters = "{}"u8.ToArray();

    /// <summary>
    /// Parses the body of a query: <c>{"Query","QueryParameters","Start","PageSize","WaitForNonStaleResults",…}</c>.
    /// </summary>
    /// <exception cref="RefusedException">The body is invalid: 400. It has an unsupported member: 501.</exception>
    public static QueryRequest Read(ReadOnlySpan<byte> body)
    {
        try
        {
            return ReadBody(body);
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException)
        {
            throw JsonBody.Malformed("The body of the query", error);
        }
    }

    /// <summary>Parses {"Query":{"Query",…}}, the body of a patch by query.</summary>
    /// <exception cref="RefusedException">The body is invalid: 400. It has an unsupported member: 501.</exception>
    public static QueryRequest ReadWrapped(ReadOnlySpan<byte> body)
    {
        try
        {
            return ReadBody(Unwrap(body));
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException)
        {
            throw JsonBody.Malformed("The body of the patch by query", error);
        }
    }

    private static ReadOnlySpan<byte> Unwrap(ReadOnlySpan<byte> body)
    {
        Range queryRange = default;
        var json = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = JsonLimits.MaxEnvelopeDepth });
        json.Read();
        var names = default(MemberNames);
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            string member = MemberOf(ref json);
            names.Add(member);
            json.Read();
            if (member is not "Query")
            {
                JsonBody.RequireNull(ref json, member, "the body of a patch by query", "Query");
                continue;
            }

            bool isQuery = json.TokenType == JsonTokenType.StartObject;
            int start = (int)json.TokenStartIndex;
            json.Skip();
            if (isQuery)
            {
                queryRange = start..(int)json.BytesConsumed;
            }
        }
        bool isAtEnd = !json.Read();
        return isAtEnd && body[queryRange] is { Length: > 0 } query
            ? query
            : throw RefusedException.BadRequest(
                "The body of a patch by query must be {\"Query\":{\"Query\":\"from Users update { this.a = 1 }\"}}."
            );
    }

    private static QueryRequest ReadBody(ReadOnlySpan<byte> body)
    {
        string? text = null;
        long start = 0;
        long pageSize = long.MaxValue;
        bool waitsForNonStale = false;
        bool includesTimings = false;
        bool skipsDuplicateChecking = false;
        var projecting = ProjectionBehavior.Default;
        var timeout = QueryRequest.DefaultWait;
        byte[] parameters = NoParameters;
        var json = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = JsonLimits.MaxEnvelopeDepth });
        if (!json.Read() || json.TokenType != JsonTokenType.StartObject)
        {
            throw RefusedException.BadRequest("The body of a query must be an object: {\"Query\":\"from Users\"}.");
        }

        var names = default(MemberNames);
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            string member = MemberOf(ref json);
            names.Add(member);
            json.Read();
            if (json.TokenType == JsonTokenType.Null)
            {
                continue;
            }

            switch (member)
            {
                case "Query":
                    text = JsonBody.ReadText(ref json, member);
                    break;
                case "Start":
                    start = ReadNumber(ref json, member);
                    break;
                case "PageSize":
                    pageSize = ReadNumber(ref json, member);
                    break;
                case "WaitForNonStaleResults" when json.TokenType is JsonTokenType.True or JsonTokenType.False:
                    waitsForNonStale = json.GetBoolean();
                    break;
                case "IncludeTimings" when json.TokenType is JsonTokenType.True or JsonTokenType.False:
                    includesTimings = json.GetBoolean();
                    break;
                case "SkipDuplicateChecking" when json.TokenType is JsonTokenType.True or JsonTokenType.False:
                    skipsDuplicateChecking = json.GetBoolean();
                    break;
                case "WaitForNonStaleResultsTimeout":
                    timeout = ReadDuration(ref json, member);
                    break;
                case "ProjectionBehavior":
                    projecting = ReadBehavior(ref json, member);
                    break;
                case "QueryParameters" when json.TokenType == JsonTokenType.StartObject:
                    parameters = JsonBody.ReadRaw(ref json, body).ToArray();
                    break;
                default:
                    RefuseUnlessIgnored(ref json, member);
                    break;
            }
        }

        json.Read(); // throws if anything follows the object
        if (string.IsNullOrWhiteSpace(text))
        {
            throw RefusedException.InvalidQuery("The member 'Query' is missing or empty.");
        }

        return text.Length <= QueryRequest.MaxTextLength
            ? new QueryRequest(text, parameters, start, pageSize, waitsForNonStale ? timeout : null)
            {
                IncludesTimings = includesTimings,
                Projecting = projecting,
                SkipsDuplicateChecking = skipsDuplicateChecking,
            }
            : throw QueryRefusal.Of(
                new QueryException(
                    QueryFault.TooCostly,
                    $"The text of a query has at most {QueryRequest.MaxTextLength} characters; send long lists as "
                        + "parameters."
                ),
                text
            );
    }

    // Returns the known name where possible, so that no string is allocated.
    private static string MemberOf(ref Utf8JsonReader json)
    {
        foreach (string known in KnownMembers)
        {
            if (json.ValueTextEquals(known))
            {
                return known;
            }
        }

        return json.GetString()!;
    }

    private static void RefuseUnlessIgnored(ref Utf8JsonReader json, string member)
    {
        bool isBoolean = json.TokenType is JsonTokenType.True or JsonTokenType.False;
        if (Array.IndexOf(KnownMembers, member) < 0)
        {
            throw JsonBody.NotSupported(member, "the body of a query", KnownMembers);
        }

        if (!isBoolean || Array.IndexOf(IgnoredMembers, member) < 0)
        {
            throw RefusedException.BadRequest($"The member '{member}' of the query has a value of the wrong type.");
        }
    }

    private static ProjectionBehavior ReadBehavior(ref Utf8JsonReader json, string member)
    {
        string? text = JsonBody.ReadText(ref json, member);
        return EnumName.TryParse(text, out ProjectionBehavior behavior)
            ? behavior
            : throw RefusedException.BadRequest(
                $"'{member}' must be one of {string.Join(", ", Enum.GetNames<ProjectionBehavior>())}."
            );
    }

    private static TimeSpan ReadDuration(ref Utf8JsonReader json, string member)
    {
        string text = json.TokenType switch
        {
            JsonTokenType.Number when json.TryGetInt64(out long milliseconds) => milliseconds.ToString(
                CultureInfo.InvariantCulture
            ),
            JsonTokenType.String => json.GetString()!,
            _ => "",
        };
        if (!DurationText.TryParse(text, out var duration))
        {
            throw RefusedException.BadRequest($"'{member}' must be milliseconds, or a duration like \"00:00:05\".");
        }

        return duration;
    }

    private static long ReadNumber(ref Utf8JsonReader json, string member) =>
        json.TokenType == JsonTokenType.Number && json.TryGetInt64(out long number) && number >= 0
            ? number
            : throw RefusedException.BadRequest($"'{member}' must be a whole number from 0.");
}
