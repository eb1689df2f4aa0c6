using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven;

/// <summary>
/// The header <c>Rookery-Receipt</c>. If a write request carries it with the value 1, the header of the answer reports
/// which members had the write on disk when it was committed. Its form is a dictionary of structured fields (RFC 9651,
/// 3.2): <c>entry=812, bytes=4096, commands=3, synced=(A;ms=2.148 C;ms=3.402)</c>.
/// </summary>
internal static class ReceiptHeader
{
    private const string Name = "Rookery-Receipt";

    /// <summary>Whether a request asks for a receipt.</summary>
    public static bool IsAskedFor(HttpContext http)
    {
        var values = http.Request.Headers[Name];
        return values.Count == 1 && string.Equals(values[0], "1", StringComparison.Ordinal);
    }

    /// <summary>Sets the header of the answer if the outcome carries a receipt.</summary>
    public static void Set(HttpContext http, in CommandOutcome outcome)
    {
        if (outcome.Receipt is { } receipt)
        {
            http.Response.Headers[Name] = Of(outcome.Index, receipt);
        }
    }

    /// <summary>Returns the header's value.</summary>
    internal static string Of(long index, CommitReceipt receipt)
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"entry={index}, bytes={receipt.JournalBytes}, commands={receipt.Commands}, synced=("
        );
        for (int i = 0; i < receipt.Synced.Count; i++)
        {
            text.Append(i == 0 ? string.Empty : " ")
                .Append(
                    CultureInfo.InvariantCulture,
                    $"{receipt.Synced[i].Tag};ms={receipt.Synced[i].Microseconds / 1000.0:0.0##}"
                );
        }

        return text.Append(')').ToString();
    }
}
