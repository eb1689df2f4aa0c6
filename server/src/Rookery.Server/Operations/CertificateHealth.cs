using System.Globalization;
using System.Text.Json;

namespace Rookery.Server.Operations;

/// <summary>
/// Reports how long the certificate for clients is valid. The node renews it when a third of its lifetime is left. A
/// failed renewal appears in the log and here.
/// </summary>
internal static class CertificateHealth
{
    // Trouble is reported when a quarter of the lifetime is left: by then the renewal, due at a third, has failed for
    // some time.
    private const int TroubleShare = 4;

    /// <summary>Writes the member <c>Certificate</c>; nothing without a certificate.</summary>
    public static void Write(Utf8JsonWriter json, ServerContext context)
    {
        if (context.Options.Identity?.Invoke()?.Certificate is not { } certificate)
        {
            return;
        }

        var (begins, ends) = (certificate.NotBefore.ToUniversalTime(), certificate.NotAfter.ToUniversalTime());
        var now = context.KnownTime.UtcDateTime;
        json.WriteStartObject("Certificate"u8);
        json.WriteString("Expires"u8, ends);
        json.WriteString(
            "Trouble"u8,
            ends - now >= (ends - begins) / TroubleShare
                ? null
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"The certificate for clients expires on {ends:yyyy-MM-dd} and should have been renewed long "
                        + $"before: from then on clients refuse this node. The log has the reason."
                )
        );
        json.WriteEndObject();
    }

    /// <summary>Returns the days until the certificate expires; null without one.</summary>
    public static double? DaysLeft(ServerContext context) =>
        context.Options.Identity?.Invoke()?.Certificate is { } certificate
            ? (certificate.NotAfter.ToUniversalTime() - context.KnownTime.UtcDateTime).TotalDays
            : null;

    /// <summary>Adds the metric; nothing without a certificate.</summary>
    public static void Add(PrometheusText text, ServerContext context)
    {
        if (context.Options.Identity?.Invoke()?.Certificate is { } certificate)
        {
            text.Gauge(
                    "rookery_certificate_not_after_seconds",
                    "Expiry of the certificate for clients, since 1970 UTC."
                )
                .Sample((certificate.NotAfter.ToUniversalTime() - DateTime.UnixEpoch).TotalSeconds);
        }
    }
}
