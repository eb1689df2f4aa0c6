namespace Rookery.Server.Configuration;

/// <summary>Where alerts are sent, as written.</summary>
/// <param name="Url">The URL, to be posted to.</param>
/// <param name="Form">"json" or "ntfy"; null for the first.</param>
/// <param name="TokenFile">The file with the bearer token to send; null for none.</param>
public sealed record WebhookSettings(string Url, string? Form, string? TokenFile)
{
    /// <summary>The form with everything that is known.</summary>
    public const string Json = "json";

    /// <summary>What ntfy takes: topic, title, message, priority.</summary>
    public const string Ntfy = "ntfy";

    /// <summary>Checks it.</summary>
    /// <exception cref="ConfigurationException">Something is wrong; the sentence does not name what may be secret of
    /// the URL.</exception>
    internal WebhookConfiguration Check()
    {
        if (
            !Uri.TryCreate(Url, UriKind.Absolute, out var url)
            || url.Scheme is not ("http" or "https")
            || url.UserInfo.Length > 0
            || url.Fragment.Length > 0
        )
        {
            throw new ConfigurationException(
                "\"webhook.url\" must look like https://ntfy.sh/TOPIC, without a user and without a fragment."
            );
        }

        string form = Form ?? Json;
        return form is not (Json or Ntfy)
                ? throw new ConfigurationException($"\"webhook.form\" must be {Json} or {Ntfy}, not \"{form}\".")
            : form is Ntfy && (url.Query.Length > 0 || url.Segments.Length < 2 || url.Segments[^1].EndsWith('/'))
                ? throw new ConfigurationException(
                    "\"webhook.url\" must end with the topic, as https://ntfy.sh/TOPIC, where \"webhook.form\" is ntfy."
                )
            : TokenFile is not null && url.Scheme is "http" && !url.IsLoopback
                ? throw new ConfigurationException(
                    "\"webhook.tokenFile\" needs a URL with https: whoever is on the way could read the token "
                        + "otherwise."
                )
            : new WebhookConfiguration(url, form, TokenFile is null ? null : Path.GetFullPath(TokenFile));
    }
}

/// <summary>The same, checked.</summary>
/// <param name="Url">The URL; its path may be a secret.</param>
/// <param name="Form">"json" or "ntfy".</param>
/// <param name="TokenFile">Absolute.</param>
public sealed record WebhookConfiguration(Uri Url, string Form, string? TokenFile);
