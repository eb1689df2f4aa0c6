using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net.Http.Headers;
using Microsoft.AspNetCore.Http;
using Rookery.Storage;
using Rookery.Storage.Repair;

namespace Rookery.Cluster.Transfer;

/// <summary>
/// The HTTP encoding of a request for rows to repair, and of the log position in the response. Used by
/// <see cref="StateRepair"/> and <see cref="StateRoutes"/>.
/// </summary>
internal static class RowsQuery
{
    private const string Index = "Rookery-Index";
    private const string Term = "Rookery-Term";
    private const string Operations = "Rookery-Operations";
    private const int MaxKeyHexDigits = 8192;

    /// <summary>Returns the path and query of a request.</summary>
    public static string PathOf(RepairRequest request) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{StateRoutes.Prefix}/rows?group={request.Group}&from={Convert.ToHexString(request.From.Span)}"
                + $"&to={Convert.ToHexString(request.ToExclusive.Span)}"
        );

    public static bool TryRead(IQueryCollection query, [NotNullWhen(true)] out RepairRequest? request)
    {
        request = null;
        if (
            !byte.TryParse(query["group"], NumberStyles.None, CultureInfo.InvariantCulture, out byte group)
            || !TryReadKey(query["from"], out byte[] from)
            || !TryReadKey(query["to"], out byte[] to)
            || from.AsSpan().SequenceCompareTo(to) >= 0
        )
        {
            return false;
        }

        request = new RepairRequest(string.Empty, group, from, to, LeastSequence: 0);
        return true;
    }

    public static void WritePosition(IHeaderDictionary headers, in ManifestPosition position)
    {
        headers[Index] = position.Index.ToString(CultureInfo.InvariantCulture);
        headers[Term] = position.Term.ToString(CultureInfo.InvariantCulture);
        headers[Operations] = position.Sequence.ToString(CultureInfo.InvariantCulture);
    }

    public static ManifestPosition? ReadPosition(HttpResponseHeaders headers) =>
        TryRead(headers, Index, out long index)
        && TryRead(headers, Term, out long term)
        && TryRead(headers, Operations, out long operations)
            ? new ManifestPosition(index, term, operations)
            : null;

    private static bool TryRead(HttpResponseHeaders headers, string name, out long number)
    {
        number = 0;
        return headers.TryGetValues(name, out var values)
            && long.TryParse(values.FirstOrDefault(), NumberStyles.None, CultureInfo.InvariantCulture, out number);
    }

    private static bool TryReadKey(string? hex, out byte[] key)
    {
        key = new byte[(hex?.Length ?? 0) / 2];
        return !string.IsNullOrEmpty(hex)
            && hex.Length % 2 == 0
            && hex.Length <= MaxKeyHexDigits
            && Convert.FromHexString(hex, key, out _, out _) == System.Buffers.OperationStatus.Done;
    }
}
