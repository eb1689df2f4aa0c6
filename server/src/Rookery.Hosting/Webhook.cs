using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>What the webhook needs that lies in a file.</summary>
internal static class Webhook
{
    private const int LeastSecret = 12;
    private const UnixFileMode ForOthers =
        UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>The token to send; null for none. What is secret of both is made known.</summary>
    /// <exception cref="ConfigurationException">The file cannot be read, is for others' eyes too, or holds no
    /// token.</exception>
    public static string? ReadToken(WebhookConfiguration? webhook, SecretFilter secrets)
    {
        if (webhook is null)
        {
            return null;
        }

        // Whoever knows a topic of ntfy, or the path of a hook, may send to it.
        // A short one is no secret: it can be guessed, and to take it out would blank a word such as `rookery` wherever
        // it stands.
        string path = webhook.Url.PathAndQuery.TrimStart('/');
        if (path.Length >= LeastSecret)
        {
            secrets.Hide(path);
        }

        if (webhook.TokenFile is not { } file)
        {
            return null;
        }

        string token = System
            .Text.Encoding.UTF8.GetString(ConfigurationFiles.ReadBytes(file, "The file of the webhook's token"))
            .Trim();
        if ((new FileInfo(file).UnixFileMode & ForOthers) != UnixFileMode.None)
        {
            throw new ConfigurationException(
                $"{file} holds the webhook's token and is not for its user alone: `chmod 600 {file}`."
            );
        }

        if (token.Length == 0 || token.AsSpan().IndexOfAnyExceptInRange('!', '~') >= 0)
        {
            throw new ConfigurationException(
                $"{file} holds no token for the webhook: one is a single line of letters, digits and signs."
            );
        }

        secrets.Hide(token);
        return token;
    }
}
