using System.Collections.Immutable;
using System.Text.RegularExpressions;

namespace Rookery.Server.Support;

/// <summary>
/// Takes secrets out of texts that leave the node for a helper's eyes: those that this process knows by their words,
/// and whatever looks like one of ours. It stands behind the rule that nobody writes them there, and does not replace
/// it. Thread-safe.
/// </summary>
public sealed partial class SecretFilter
{
    // Shorter ones would take ordinary words apart.
    private const int LeastLength = 6;
    private const string Removed = "(secret)";

    private ImmutableArray<string> _known = [];

    /// <summary>Makes a secret known, as it is and as JSON would write it.</summary>
    public void Hide(string? secret)
    {
        string word = secret?.Trim() ?? string.Empty;
        if (word.Length < LeastLength)
        {
            return;
        }

        string written = System.Text.Json.JsonEncodedText.Encode(word).ToString();
        ImmutableInterlocked.Update(
            ref _known,
            static (known, added) => [.. known.Union(added, StringComparer.Ordinal)],
            (string[])[word, written]
        );
    }

    /// <summary>The text without them.</summary>
    public string Clean(string text)
    {
        foreach (string secret in _known)
        {
            text = text.Replace(secret, Removed, StringComparison.OrdinalIgnoreCase);
        }

        try
        {
            return LooksSecret().Replace(text, Removed);
        }
        catch (RegexMatchTimeoutException)
        {
            // What could not be looked through is not handed on.
            return Removed;
        }
    }

    // Tokens of access and of joining, private keys, what follows Bearer or Basic, and who signs in by a URL.
    [GeneratedRegex(
        @"rookery_(?=[a-z_]*[A-Z0-9\-])[A-Za-z0-9_\-]{43}(?![A-Za-z0-9_\-])|rookery-join-1\.[A-Za-z0-9_\-]+"
            + "|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?"
            + @"|(?<=\b(Bearer|Basic) )[A-Za-z0-9+/_.~=\-]{8,}|(?<=://)[^/\s@""]+(?=@)",
        RegexOptions.CultureInvariant | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 5000
    )]
    private static partial Regex LooksSecret();
}
