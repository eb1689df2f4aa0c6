namespace Rookery.Server.Configuration;

/// <summary>URLs for display, without the parts that may be secret: user, query and fragment.</summary>
public static class ShownUrl
{
    /// <summary>Returns scheme, host, port and path of a URL.</summary>
    public static string Of(Uri url) =>
        url.GetComponents(UriComponents.SchemeAndServer | UriComponents.Path, UriFormat.UriEscaped);

    /// <summary>
    /// Returns a text that should be a URL, without what may be secret if it were one, for an error message.
    /// </summary>
    public static string Of(string text)
    {
        int end = text.AsSpan().IndexOfAny('?', '#');
        string shown = end < 0 ? text : text[..end];
        int host = shown.LastIndexOf('@') + 1; // a password may contain a slash
        if (host == 0)
        {
            return shown;
        }

        int user = shown.IndexOf("://", StringComparison.Ordinal);
        return user >= 0 && user < host ? string.Concat(shown.AsSpan(0, user + 3), shown.AsSpan(host)) : shown[host..];
    }
}
