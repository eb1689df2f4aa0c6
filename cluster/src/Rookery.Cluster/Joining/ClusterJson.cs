using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Membership;

namespace Rookery.Cluster.Joining;

/// <summary>The JSON format of records and of the messages of joining.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UseStringEnumConverter = true,
    RespectNullableAnnotations = true
)]
[JsonSerializable(typeof(MemberRecord))]
[JsonSerializable(typeof(TokenRecord))]
[JsonSerializable(typeof(JoinRequest))]
[JsonSerializable(typeof(JoinAnswer))]
[JsonSerializable(typeof(JoinRefusal))]
[JsonSerializable(typeof(AuthorityList))]
[JsonSerializable(typeof(FormingCall))]
[JsonSerializable(typeof(FormingAnswer))]
[JsonSerializable(typeof(RotationRecord))]
[JsonSerializable(typeof(TopologyRecord))]
internal sealed partial class ClusterJson : JsonSerializerContext
{
    /// <summary>Parses untrusted JSON; null when it does not have this shape.</summary>
    public static T? TryRead<T>(ReadOnlySpan<byte> json, JsonTypeInfo<T> type)
        where T : class
    {
        try
        {
            return JsonSerializer.Deserialize(json, type);
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
