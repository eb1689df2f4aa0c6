using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;
using Microsoft.Net.Http.Headers;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven;

/// <summary>
/// The ETag of an answer: clients keep the body by URL and ask again with If-None-Match. One document's tag is its
/// change vector; the tag of several is a hash over the etags of all, in order, and over the history they belong to.
/// </summary>
internal struct EntityTag(Database database)
{
    // FNV-1a, over 64-bit values instead of bytes: no attacker gains from a collision with his own answer
    private const ulong Prime = 0x100000001b3;
    private ulong _hash = Seed(database.HistoryId);

    /// <summary>The quoted change vector of one document.</summary>
    public static string Of(Database database, long etag) =>
        string.Create(CultureInfo.InvariantCulture, $"\"A:{etag}-{database.HistoryId}\"");

    /// <summary>Adds a document, or 0 for one that is missing.</summary>
    public void Add(long etag)
    {
        _hash = (_hash ^ (ulong)etag) * Prime;
        _hash ^= _hash >> 29;
    }

    /// <summary>Adds text that decides the answer.</summary>
    public void Add(ReadOnlySpan<byte> text)
    {
        foreach (byte part in text)
        {
            _hash = (_hash ^ part) * Prime;
        }
    }

    /// <summary>The quoted hash.</summary>
    public override readonly string ToString() => string.Create(CultureInfo.InvariantCulture, $"\"{_hash:x16}\"");

    /// <summary>Sets the tag. When the client has this answer already, the answer becomes 304 without a body.</summary>
    /// <returns>True when nothing more is to be written.</returns>
    public static bool Set(HttpContext http, string tag)
    {
        http.Response.Headers.ETag = tag;
        var known = http.Request.Headers.IfNoneMatch;
        if (known.Count == 0 || !Names(known, tag))
        {
            return false;
        }

        http.Response.StatusCode = StatusCodes.Status304NotModified;
        return true;
    }

    // A list of tags, or `*` for any: RFC 9110, section 13.1.2. Clients of RavenDB send one, as they got it.
    private static bool Names(StringValues known, string tag) =>
        string.Equals(known[0], tag, StringComparison.Ordinal)
        || (
            EntityTagHeaderValue.TryParseList(known, out var tags)
            && tags.Any(each =>
                each.Equals(EntityTagHeaderValue.Any) || string.Equals(each.Tag.Value, tag, StringComparison.Ordinal)
            )
        );

    // Not string.GetHashCode, which differs after each start: caches of clients outlive ours.
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
