using System.Text;
using System.Text.Json;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Revisions;

/// <summary>The body of a request to enforce the configuration, or to revert documents to a time.</summary>
internal sealed class RevisionsRequest
{
    private const int MaxCollections = 1024;

    private HashSet<string>? _collections;

    /// <summary>The time to revert to, in UTC ticks; null to enforce the configuration.</summary>
    public long? Ticks { get; private set; }

    /// <summary>Whether forced revisions may be removed too.</summary>
    public bool IncludesForced { get; private set; }

    /// <summary>Number of documents to work on in a second; 0 for no limit.</summary>
    public int MaxPerSecond { get; private set; }

    /// <summary>Reads the body of admin/revisions/config/enforce, which may be empty.</summary>
    /// <exception cref="RefusedException">It is malformed (400), or has an unknown member (501).</exception>
    public static RevisionsRequest ReadEnforce(ReadOnlySpan<byte> body)
    {
        var request = new RevisionsRequest();
        if (body.IsEmpty)
        {
            return request;
        }

        ReadMembers(
            body,
            (string member, ref Utf8JsonReader value) =>
            {
                // The Node client writes the names of these members in camelCase.
                if (member.Equals("IncludeForceCreated", StringComparison.OrdinalIgnoreCase))
                {
                    request.IncludesForced = ReadFlag(ref value, member);
                }
                else if (member.Equals("MaxOpsPerSecond", StringComparison.OrdinalIgnoreCase))
                {
                    request.MaxPerSecond = ReadLimit(ref value, member);
                }
                else if (member.Equals("Collections", StringComparison.OrdinalIgnoreCase))
                {
                    request.ReadCollections(ref value, member);
                }
                else
                {
                    JsonBody.RequireNull(
                        ref value,
                        member,
                        "the body of admin/revisions/config/enforce",
                        "IncludeForceCreated",
                        "MaxOpsPerSecond",
                        "Collections"
                    );
                }
            }
        );
        return request;
    }

    /// <summary>Reads the body of revisions/revert.</summary>
    /// <exception cref="RefusedException">It is malformed (400), or has an unknown member (501).</exception>
    public static RevisionsRequest ReadRevert(ReadOnlySpan<byte> body)
    {
        var request = new RevisionsRequest();
        ReadMembers(
            body,
            (string member, ref Utf8JsonReader value) =>
            {
                switch (member)
                {
                    case "Time":
                        request.Ticks = GetRevisions.ReadTicks(member, JsonBody.ReadText(ref value, member) ?? "");
                        break;
                    // RavenDB searches no further back than this. Here revisions are found by document, so there is
                    // nothing to limit.
                    case "WindowInSec":
                        if (value.TokenType is not (JsonTokenType.Number or JsonTokenType.Null))
                        {
                            throw RefusedException.BadRequest("'WindowInSec' must be a number.");
                        }

                        break;
                    case "Collections":
                        request.ReadCollections(ref value, member);
                        break;
                    default:
                        JsonBody.RequireNull(
                            ref value,
                            member,
                            "the body of revisions/revert",
                            "Time",
                            "WindowInSec",
                            "Collections"
                        );
                        break;
                }
            }
        );
        return request.Ticks is not null
            ? request
            : throw RefusedException.BadRequest(
                "The body must have the time to revert to: {\"Time\":\"2026-11-21T09:49:45.2120000Z\"}."
            );
    }

    /// <summary>Whether the request concerns a collection.</summary>
    public bool Concerns(ReadOnlySpan<byte> collection) =>
        _collections is null
        || _collections.Contains(Encoding.UTF8.GetString(collection.IsEmpty ? "@empty"u8 : collection));

    private static void ReadMembers(ReadOnlySpan<byte> body, JsonMember read) =>
        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(ref json, read);
                return true;
            }
        );

    private void ReadCollections(ref Utf8JsonReader json, string member)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return;
        }

        var names = JsonBody.ReadTexts(ref json, member);
        if (names.Count > MaxCollections)
        {
            throw RefusedException.BadRequest($"'{member}' names at most {MaxCollections} collections.");
        }

        _collections = names.Count == 0 ? null : new HashSet<string>(names, IgnoredCase.OfCollections);
    }

    private static bool ReadFlag(ref Utf8JsonReader json, string member) =>
        json.TokenType switch
        {
            JsonTokenType.True => true,
            JsonTokenType.False or JsonTokenType.Null => false,
            _ => throw RefusedException.BadRequest($"'{member}' must be true or false."),
        };

    private static int ReadLimit(ref Utf8JsonReader json, string member)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return 0;
        }

        return json.TokenType == JsonTokenType.Number && json.TryGetInt32(out int limit) && limit > 0
            ? limit
            : throw RefusedException.BadRequest($"'{member}' must be a whole number from 1, or null.");
    }
}
