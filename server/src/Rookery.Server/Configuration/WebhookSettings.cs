namespace Rookery.Server.Configuration;

/// <summary>The webhook for alerts, as the user wrote it.</summary>
/// <param name="Url">The URL to post to.</param>
/// <param name="Form">"json" or "ntfy"; null for "json".</param>
/// <param name="TokenFile">Path of the file with the bearer token; null for none.</param>
public sealed record WebhookSettings(string Url, string? Form, string? TokenFile)
{
    /// <summary>The form that sends an alert with all its properties as JSON.</summary>
    public const string Json = "json";

    /// <summary>The form of ntfy: topic, title, message, priority.</summary>
    public const string Ntfy = "ntfy";

    /// <summary>Validates the settings.</summary>
    /// <exception cref="ConfigurationException">A setting is invalid. The message omits the parts of the URL that may
    /// be secret.</exception>
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
        if (form is not (Json or Ntfy))
        {
            throw new ConfigurationException($"\"webhook.form\" must be {Json} or {Ntfy}, not \"{form}\".");
        }

        if (form is Ntfy && (url.Query.Length > 0 || url.Segments.Length < 2 || url.Segments[^1].EndsWith('/')))
        {
            throw new ConfigurationException(
                "\"webhook.url\" must end with the topic, as https://ntfy.sh/TOPIC, where \"webhook.form\" is ntfy."
            );
        }

        if (TokenFile is not null && url.Scheme is "http" && !url.IsLoopback)
        {
            throw new ConfigurationException(
                "\"webhook.tokenFile\" needs a URL with https: over plain HTTP, anyone on the network path could "
                    + "read the token."
            );
        }

        return new WebhookConfiguration(url, form, TokenFile is null ? null : Path.GetFullPath(TokenFile));
    }
}

/// <summary>The validated webhook.</summary>
/// <param name="Url">The URL; its path may be a secret.</param>
/// <param name="Form">"json" or "ntfy".</param>
/// <param name="TokenFile">Absolute path; null for none.</param>
public sealed record WebhookConfiguration(Uri Url, string Form, string? TokenFile);
