using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;
using Microsoft.Net.Http.Headers;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven;

/// <summary>
/// The ETag of an answer. Clients cache the body by URL and repeat the request with If-None-Match. The tag of one
/// document is its change vector; the tag of several is a hash of their etags, in order, and of the database's history
/// ID, which changes when the database is restored.
/// </summary>
internal struct EntityTag(Database database)
{
    // A hash like FNV-1a. It need not resist attacks: a client compares a tag only with its own earlier answers.
    private const ulong Prime = 0x100000001b3;
    private ulong _hash = Seed(database.HistoryId);

    /// <summary>Returns the quoted change vector of one document.</summary>
    public static string Of(Database database, long etag) =>
        string.Create(CultureInfo.InvariantCulture, $"\"A:{etag}-{database.HistoryId}\"");

    /// <summary>Adds the etag of a document, or 0 for a missing one.</summary>
    public void Add(long etag)
    {
        _hash = (_hash ^ (ulong)etag) * Prime;
        _hash ^= _hash >> 29;
    }

    /// <summary>Adds text on which the answer depends.</summary>
    public void Add(ReadOnlySpan<byte> text)
    {
        foreach (byte part in text)
        {
            _hash = (_hash ^ part) * Prime;
        }
    }

    /// <summary>Returns the quoted hash.</summary>
    public override readonly string ToString() => string.Create(CultureInfo.InvariantCulture, $"\"{_hash:x16}\"");

    /// <summary>Sets the ETag header. If the client already has this answer, answers 304 (Not Modified).</summary>
    /// <returns>True if the answer is 304, so no body must be written.</returns>
    public static bool TryAnswerNotModified(HttpContext http, string tag)
    {
        http.Response.Headers.ETag = tag;
        var known = http.Request.Headers.IfNoneMatch;
        if (known.Count == 0 || !Contains(known, tag))
        {
            return false;
        }

        http.Response.StatusCode = StatusCodes.Status304NotModified;
        return true;
    }

    // Whether If-None-Match, a list of tags or `*` (RFC 9110, section 13.1.2), contains the tag. RavenDB's clients send
    // one tag, unchanged.
    private static bool Contains(StringValues known, string tag) =>
        string.Equals(known[0], tag, StringComparison.Ordinal)
        || (
            EntityTagHeaderValue.TryParseList(known, out var tags)
            && tags.Any(each =>
                each.Equals(EntityTagHeaderValue.Any) || string.Equals(each.Tag.Value, tag, StringComparison.Ordinal)
            )
        );

    // Not string.GetHashCode, which differs after each start: clients keep tags across restarts of the node.
    private static ulong Seed(string historyId)
    {
        ulong hash = 0xcbf29ce484222325;
        foreach (char part in historyId)
        {
            hash = (hash ^ part) * Prime;
        }

        return hash;
    }
}
