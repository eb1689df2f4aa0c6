using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

public sealed class RavenErrorsTests
{
    [Fact]
    public async Task A_database_deleted_during_a_write_is_named()
    {
        var http = new DefaultHttpContext();
        http.Request.RouteValues["database"] = "birds";
        await RavenErrors.WriteAsync(http, new Rejection(RejectionKind.DatabaseMissing, "It was deleted before."));
        Assert.Equal((503, "birds"), (http.Response.StatusCode, http.Response.Headers["Database-Missing"].ToString()));
    }
}
