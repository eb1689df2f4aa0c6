using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>Reads the bearer token of the alert webhook from its file.</summary>
internal static class Webhook
{
    private const UnixFileMode AccessOfOthers =
        UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>
    /// Reads the token; null for none. Also registers the token and the path of the webhook's URL as secrets, so that
    /// logs and debug packages do not contain them.
    /// </summary>
    /// <exception cref="ConfigurationException">The file cannot be read, other users may read it, or it contains no
    /// token.</exception>
    public static string? ReadToken(WebhookConfiguration? webhook, SecretFilter secrets)
    {
        if (webhook is null)
        {
            return null;
        }

        secrets.HidePath(webhook.Url);
        if (webhook.TokenFile is not { } file)
        {
            return null;
        }

        string token = System
            .Text.Encoding.UTF8.GetString(ConfigurationFiles.ReadBytes(file, "The file of the webhook's token"))
            .Trim();
        if ((new FileInfo(file).UnixFileMode & AccessOfOthers) != UnixFileMode.None)
        {
            throw new ConfigurationException(
                $"{file} holds the webhook's token, and other users can read it. Run `chmod 600 {file}`."
            );
        }

        if (token.Length == 0 || token.AsSpan().IndexOfAnyExceptInRange('!', '~') >= 0)
        {
            throw new ConfigurationException(
                $"{file} holds no token for the webhook: a token is a single line of letters, digits and signs."
            );
        }

        secrets.Hide(token);
        return token;
    }
}
