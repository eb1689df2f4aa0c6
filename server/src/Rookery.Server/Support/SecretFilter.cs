using System.Collections.Immutable;
using System.Text.RegularExpressions;

namespace Rookery.Server.Support;

/// <summary>
/// Removes secrets from logs and debug packages: secrets that this process knows, and text that looks like a token or
/// key. No code should write secrets there; the filter is a second safeguard. Thread-safe.
/// </summary>
public sealed partial class SecretFilter
{
    // Shorter secrets are ignored, because removing them would mangle ordinary words.
    private const int MinLength = 6;

    // A shorter path can be guessed anyway, and hiding it could hide an ordinary word such as `rookery` in all lines.
    private const int MinPathLength = 12;
    private const string Removed = "(secret)";

    private ImmutableArray<string> _secrets = [];

    /// <summary>Registers a secret to be removed, as it is and in its JSON encoding.</summary>
    public void Hide(string? secret)
    {
        string word = secret?.Trim() ?? string.Empty;
        if (word.Length < MinLength)
        {
            return;
        }

        string written = System.Text.Json.JsonEncodedText.Encode(word).ToString();
        ImmutableInterlocked.Update(
            ref _secrets,
            static (known, added) => [.. known.Union(added, StringComparer.Ordinal)],
            (string[])[word, written]
        );
    }

    /// <summary>
    /// Registers what follows the host of a URL, because it is enough for sending there (a topic of ntfy, for example).
    /// </summary>
    public void HidePath(Uri url)
    {
        string path = url.PathAndQuery.TrimStart('/');
        if (path.Length >= MinPathLength)
        {
            Hide(path);
        }
    }

    /// <summary>Returns the text without secrets.</summary>
    public string Clean(string text)
    {
        foreach (string secret in _secrets)
        {
            text = text.Replace(secret, Removed, StringComparison.OrdinalIgnoreCase);
        }

        try
        {
            return IsLikelySecret().Replace(text, Removed);
        }
        catch (RegexMatchTimeoutException)
        {
            // The search took too long, so the text is withheld.
            return Removed;
        }
    }

    // Matches access tokens, join tokens, private keys, values after Bearer or Basic, and the user part of URLs.
    [GeneratedRegex(
        @"rookery_(?=[a-z_]*[A-Z0-9\-])[A-Za-z0-9_\-]{43}(?![A-Za-z0-9_\-])|rookery-join-1\.[A-Za-z0-9_\-]+"
            + "|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?"
            + @"|(?<=\b(Bearer|Basic) )[A-Za-z0-9+/_.~=\-]{8,}|(?<=://)[^/\s@""]+(?=@)",
        RegexOptions.CultureInvariant | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 5000
    )]
    private static partial Regex IsLikelySecret();
}
