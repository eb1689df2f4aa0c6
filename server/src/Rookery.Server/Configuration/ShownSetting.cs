using System.Globalization;

namespace Rookery.Server.Configuration;

/// <summary>A setting for display.</summary>
/// <param name="Name">Name of the setting, as in docs/reference/configuration.md.</param>
/// <param name="Value">Its effective value; null without one.</param>
/// <param name="Source">"option", "file" or "default".</param>
public sealed record ShownSetting(string Name, string? Value, string Source)
{
    /// <summary>Returns all settings of a node.</summary>
    /// <param name="line">Settings on the command line.</param>
    /// <param name="file">Settings in the configuration file; null without one.</param>
    /// <param name="effective">The validated configuration.</param>
    public static IReadOnlyList<ShownSetting> Of(
        ServeSettings line,
        ServeSettings? file,
        ServeConfiguration effective
    ) =>
        [
            Make("data", effective.DataDirectory, line.Data, file?.Data),
            Make(
                "journal",
                effective.JournalDirectory ?? Path.Join(effective.DataDirectory, "journal"),
                line.Journal,
                file?.Journal
            ),
            Make("listen", effective.Url, line.Listen, file?.Listen),
            Make("peerListen", effective.PeerListen.ToString(), line.PeerListen, file?.PeerListen),
            Make("tcpListen", effective.TcpListen?.ToString() ?? "off", line.TcpListen, file?.TcpListen),
            Make("redis", effective.Redis?.Listen.ToString() ?? "off", line.Redis, file?.Redis),
            Make("redis.database", effective.Redis?.Database, line.RedisDatabase, file?.RedisDatabase),
            Make("welcome", effective.Welcome?.ToString(), line.Welcome, file?.Welcome),
            Make(
                "peers",
                effective.Peers.Count > 0 ? string.Join(',', effective.Peers) : null,
                line.Peers,
                file?.Peers
            ),
            Make(
                "form",
                effective.Form is { } form ? $"{form.Expect} nodes with the phrase in {form.PhraseFile}" : null,
                line.Form,
                file?.Form
            ),
            Make(
                "publicUrl",
                effective.PublicUrl is { } url ? PlaceOf(new Uri(url)) : null,
                line.PublicUrl,
                file?.PublicUrl
            ),
            Make(
                "memory",
                string.Create(CultureInfo.InvariantCulture, $"{effective.MemoryBytes >> 20}M"),
                line.Memory,
                file?.Memory
            ),
            Make("machineMetrics", ShownUrl.Of(effective.MachineMetrics), line.MachineMetrics, file?.MachineMetrics),
            Make("claimCodeFile", effective.ClaimCodeFile, line.ClaimCodeFile, file?.ClaimCodeFile),
            Make(
                "webhook",
                effective.Webhook is { } hook
                    ? $"{hook.Form} to {PlaceOf(hook.Url)}"
                        + $"{(hook.TokenFile is null ? string.Empty : $" with the token in {hook.TokenFile}")}"
                    : null,
                line.Webhook,
                file?.Webhook
            ),
            Make(
                "insecure",
                line.Insecure ?? file?.Insecure ?? false ? "true" : "false",
                line.Insecure,
                file?.Insecure
            ),
        ];

    /// <summary>Returns scheme, host and port of a URL. Its path and user may be secret.</summary>
    public static string PlaceOf(Uri url) => url.GetComponents(UriComponents.SchemeAndServer, UriFormat.UriEscaped);

    private static ShownSetting Make(string name, string? value, object? line, object? file) =>
        new(
            name,
            value,
            line is not null ? "option"
                : file is not null ? "file"
                : "default"
        );
}
