window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#document',
  validatorUrl: null,
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'monokai' },
  defaultModelsExpandDepth: 0,
})
