using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>The content codings that a client accepts.</summary>
internal static class AcceptedCoding
{
    /// <summary>Whether a request names a coding in Accept-Encoding, and does not refuse it.</summary>
    public static bool Includes(HttpContext http, string coding) =>
        Includes(http.Request.Headers.AcceptEncoding.ToString(), coding);

    /// <summary>Whether the value of Accept-Encoding names a coding, and does not refuse it.</summary>
    public static bool Includes(string accepted, string coding)
    {
        foreach (var range in accepted.AsSpan().Split(','))
        {
            var named = accepted.AsSpan(range);
            int parameters = named.IndexOf(';');
            if (
                (parameters < 0 ? named : named[..parameters]).Trim().Equals(coding, StringComparison.OrdinalIgnoreCase)
            )
            {
                // A quality of 0, as in "br;q=0", refuses the coding (RFC 9110 12.4.2).
                return parameters < 0 || named[parameters..].Trim(" ;qQ=").Trim("0.") is not [];
            }
        }

        return false;
    }
}
