using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven;

/// <summary>
/// On the request header <c>Rookery-Receipt: 1</c> a write's answer says which members had it on disk when it was
/// committed, as a dictionary of structured fields (RFC 9651, 3.2):
/// <c>entry=812, bytes=4096, commands=3, synced=(A;ms=2.148 C;ms=3.402)</c>.
/// </summary>
internal static class ReceiptHeader
{
    private const string Name = "Rookery-Receipt";

    /// <summary>Whether a request asks for a receipt.</summary>
    public static bool IsAskedFor(HttpContext http)
    {
        var asked = http.Request.Headers[Name];
        return asked.Count == 1 && string.Equals(asked[0], "1", StringComparison.Ordinal);
    }

    /// <summary>Sets the header of an answer, where a receipt came with the outcome.</summary>
    public static void Set(HttpContext http, in CommandOutcome outcome)
    {
        if (outcome.Receipt is { } receipt)
        {
            http.Response.Headers[Name] = Of(outcome.Index, receipt);
        }
    }

    /// <summary>The header's value.</summary>
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
