using System.Formats.Asn1;
using System.Net;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The names that a leaf is for (RFC 5280 4.2.1.6). Written by hand because the framework's builder makes the host of a
/// URI lower case, and reads no URIs.
/// </summary>
/// <param name="DnsNames">Names.</param>
/// <param name="Addresses">Addresses.</param>
/// <param name="Uri">Whose it is; see <see cref="NodeUri"/>.</param>
internal sealed record SubjectAlternativeNames(
    IReadOnlyList<string> DnsNames,
    IReadOnlyList<IPAddress> Addresses,
    string Uri
)
{
    private const string ObjectId = "2.5.29.17";

    private static readonly Asn1Tag DnsName = new(TagClass.ContextSpecific, 2);
    private static readonly Asn1Tag UniformResourceIdentifier = new(TagClass.ContextSpecific, 6);
    private static readonly Asn1Tag IpAddress = new(TagClass.ContextSpecific, 7);

    /// <summary>The extension.</summary>
    public X509Extension ToExtension()
    {
        var writer = new AsnWriter(AsnEncodingRules.DER);
        using (writer.PushSequence())
        {
            foreach (string name in DnsNames)
            {
                writer.WriteCharacterString(UniversalTagNumber.IA5String, name, DnsName);
            }

            foreach (var address in Addresses)
            {
                writer.WriteOctetString(address.GetAddressBytes(), IpAddress);
            }

            writer.WriteCharacterString(UniversalTagNumber.IA5String, Uri, UniformResourceIdentifier);
        }

        return new X509Extension(ObjectId, writer.Encode(), critical: false);
    }

    /// <summary>
    /// The names of a certificate that anybody may have made; null when it has none, more than one URI, or they cannot
    /// be read.
    /// </summary>
    public static SubjectAlternativeNames? In(X509Certificate2 certificate)
    {
        try
        {
            return certificate.Extensions[ObjectId] is { } extension
                ? Read(new AsnReader(extension.RawData, AsnEncodingRules.DER))
                : null;
        }
        catch (AsnContentException)
        {
            return null;
        }
    }

    private static SubjectAlternativeNames? Read(AsnReader reader)
    {
        List<string> names = [],
            uris = [];
        List<IPAddress> addresses = [];
        for (var content = reader.ReadSequence(); content.HasData; )
        {
            var tag = content.PeekTag();
            if (tag.HasSameClassAndValue(DnsName))
            {
                names.Add(content.ReadCharacterString(UniversalTagNumber.IA5String, DnsName));
            }
            else if (tag.HasSameClassAndValue(UniformResourceIdentifier))
            {
                uris.Add(content.ReadCharacterString(UniversalTagNumber.IA5String, UniformResourceIdentifier));
            }
            else if (
                tag.HasSameClassAndValue(IpAddress) && content.ReadOctetString(IpAddress) is { Length: 4 or 16 } address
            )
            {
                addresses.Add(new IPAddress(address));
            }
            else
            {
                return null;
            }
        }

        return uris is [var uri] ? new SubjectAlternativeNames(names, addresses, uri) : null;
    }
}
